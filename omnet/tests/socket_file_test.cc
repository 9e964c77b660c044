#include "client/socket_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace roambus;
namespace fs = std::filesystem;

namespace {

// A folder with the socket of a host that died.
struct DeadHost {
    DeadHost() {
        char name[] = "/tmp/roambus-test-XXXXXX";
        folder = mkdtemp(name);
        socket = folder / "socket";
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, socket.c_str());
        const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
        REQUIRE(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
        close(descriptor);
    }
    ~DeadHost() { fs::remove_all(folder); }

    std::string endpoint() const { return "ipc://" + socket.string(); }

    fs::path folder;
    fs::path socket;
};

}  // namespace

TEST_CASE("A dead host's socket and folder are removed") {
    const DeadHost host;
    remove_socket_file(host.endpoint());
    CHECK_FALSE(fs::exists(host.folder));
}

TEST_CASE("A folder with something else in it stays") {
    const DeadHost host;
    std::ofstream(host.folder / "other") << "x";
    remove_socket_file(host.endpoint());
    CHECK_FALSE(fs::exists(host.socket));
    CHECK(fs::exists(host.folder / "other"));
}

TEST_CASE("A file that is no socket stays, and so does its folder") {
    const DeadHost host;
    const fs::path file = host.folder / "file";
    std::ofstream(file) << "x";
    remove_socket_file("ipc://" + file.string());
    CHECK(fs::exists(file));
    CHECK(fs::exists(host.socket));
}

TEST_CASE("Other endpoints have no file") {
    const DeadHost host;
    remove_socket_file("tcp://" + host.socket.string());
    CHECK(fs::exists(host.socket));
}
