#include "connect.h"

#include "connection.h"
#include "local_connection.h"
#include "socket_file.h"

namespace roambus {

std::unique_ptr<Channel> connect(const Session& session) {
    if (is_local(session.endpoint))
        return std::make_unique<LocalConnection>(session);
    return std::make_unique<Connection>(session);
}

}  // namespace roambus
