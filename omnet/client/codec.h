// Messages to bytes and back. The only part that knows protobuf.
#pragma once

#include <string>
#include <string_view>

#include "messages.h"

namespace roambus {

// SHA-256 of the bridge/wire/wire.proto that this was built from: 32 bytes.
const std::string& schema_hash();

std::string encode(const Hello& hello);
std::string encode(const Step& step);
std::string encode(const Finished& finished);
std::string encode(const Failed& failed);

// Throws ProtocolError for bytes that are not a message of a host.
FromHost decode(std::string_view bytes);

}  // namespace roambus
