/* Makes the search work on pages that are opened from disk. Browsers refuse workers there, so the search's script runs in a
   frame instead. By this file's name mkdocs-material knows that it need not load such a script from elsewhere. */

if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.inside = new Promise((ready) => {
        frame.addEventListener("load", () => this.fill(frame.contentWindow, script, ready), { once: true });
      });
      document.body.append(frame);
    }

    /** The script answers by postMessage, as it would in a worker. */
    fill(inside, script, ready) {
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const element = inside.document.createElement("script");
      element.src = script;
      element.addEventListener("load", () => ready(inside));
      inside.document.head.append(element);
    }

    async postMessage(data) {
      const inside = await this.inside;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
