// Ways in which a simulator can go wrong, for the tests of the host.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "client/connection.h"
#include "client/session_file.h"
#include "stand_in/script.h"

namespace roambus::stand_in {

// Whether a script may name it:
//   wrong-version, wrong-hash, wrong-token   in the Hello
//   node-out-of-range, time-backwards        in the next Step
//   wrong-counts                             in Finished
//   garbage-after, hello-after               instead of the next message: bytes that are not a message; a second Hello
//   silent-after                             says nothing any more, until the host is gone
//   close-after                              closes the connection, and stays for a minute
//   exit-after                               exits at once, with STATUS
bool is_misbehaviour(const std::string& kind);

// The connection to the host, but for one misbehaviour.
class UnrulyConnection : public Channel {
public:
    UnrulyConnection(const Session& session, const Misbehaviour& misbehaviour);

    void send(std::string_view message) override;
    std::string receive() override;

private:
    std::string corrupted(std::string_view message) const;
    void remember(std::string_view message);
    void leave();

    std::unique_ptr<Channel> connection_;
    Misbehaviour misbehaviour_;
    std::string hello_;
    SimTime last_now_ = 0;
    std::uint64_t steps_ = 0;
};

}  // namespace roambus::stand_in
