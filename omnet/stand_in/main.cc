// A scripted simulator: `stand-in SCRIPT`, in the folder with .roambus/session. Ends with 0 after the host's Goodbye,
// with 1 after any other end, with 2 if it cannot start.
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>

#include "client/client.h"
#include "client/connection.h"
#include "client/errors.h"
#include "client/session_file.h"
#include "stand_in/misbehaviour.h"
#include "stand_in/script.h"
#include "stand_in/simulation.h"

using namespace roambus;
using namespace roambus::stand_in;

namespace {

Script read_script(const std::string& path) {
    std::ifstream file(path);
    if (!file)
        throw std::invalid_argument("cannot read " + path);
    return parse_script(file, path);
}

std::unique_ptr<Channel> connection(const Session& session, const Misbehaviour& misbehaviour) {
    if (misbehaviour.kind.empty())
        return std::make_unique<roambus::Connection>(session);
    return std::make_unique<UnrulyConnection>(session, misbehaviour);
}

void simulate(const Script& script) {
    const Session session = read_session(session_path());
    std::cerr << "stand-in: " << script.run.nodes.size() << " nodes, host at " << session.endpoint << std::endl;
    const std::unique_ptr<Channel> channel = connection(session, script.misbehaviour);
    Client client(*channel, session.token);
    try {
        Simulation(script, client).run();
    } catch (const std::exception& error) {
        client.fail(error.what());
        throw;
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 2)
            throw std::invalid_argument("usage: stand-in SCRIPT");
        simulate(read_script(argv[1]));
        return 0;
    } catch (const std::invalid_argument& error) {
        std::cerr << "stand-in: " << error.what() << std::endl;
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "stand-in: error: " << error.what() << std::endl;
        return 1;
    }
}
