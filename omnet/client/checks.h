// What the simulator's side demands of the host's messages (the table in docs/reference/bridge.md). All throw ProtocolError.
#pragma once

#include "messages.h"

namespace roambus {

void check(const Welcome& welcome);

// `step` is the one that `reply` answers.
void check(const Reply& reply, const Step& step, const Run& run);

}  // namespace roambus
