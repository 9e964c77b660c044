#include "client/session_file.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <sstream>

#include "client/errors.h"

using namespace roambus;

namespace {

const std::string kToken(32, 'a');
const std::string kKey(40, 'k');
const std::string kGood = "endpoint=ipc:///tmp/folder/socket\ntoken=" + kToken + "\ndeadline_ms=1500\n";

Session parse(const std::string& text) {
    std::istringstream lines(text);
    return parse_session(lines, "session");
}

std::string error(const std::string& text) {
    try {
        parse(text);
    } catch (const SessionError& error) {
        return error.what();
    }
    return "no error";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("A session without keys is read") {
    const Session session = parse(kGood);
    CHECK(session.endpoint == "ipc:///tmp/folder/socket");
    CHECK(session.token == kToken);
    CHECK(session.deadline.count() == 1500);
    CHECK_FALSE(session.keys);
}

TEST_CASE("A session with keys is read, and may be on another machine") {
    const std::string keys = "server_key=" + kKey + "\npublic_key=" + kKey + "\nsecret_key=" + kKey + "\n";
    const Session session = parse("endpoint=tcp://10.0.0.1:5000\ntoken=" + kToken + "\ndeadline_ms=1\n" + keys);
    REQUIRE(session.keys);
    CHECK(session.keys->secret_key == kKey);
}

TEST_CASE("What is wrong in a session is named") {
    CHECK(contains(error("endpoint\n"), "session: line 1: no name=value"));
    CHECK(contains(error(kGood + "port=1\n"), "line 4: the name \"port\" is not known"));
    CHECK(contains(error(kGood + "token=1\n"), "line 4: token is there twice"));
    CHECK(contains(error("endpoint=ipc://a\n"), "token is missing"));
    CHECK(contains(error("endpoint=ipc://a\ntoken=xyz\n"), "32 hexadecimal digits"));
    CHECK(contains(error("endpoint=ipc://a\ntoken=" + kToken + "\ndeadline_ms=-5\n"), "deadline_ms=-5"));
    CHECK(contains(error("endpoint=ipc://a\ntoken=" + kToken + "\ndeadline_ms=0\n"), "deadline_ms=0"));
    CHECK(contains(error(kGood + "server_key=" + kKey + "\n"), "public_key is missing"));
    CHECK(contains(error(kGood + "server_key=short\n"), "server_key is not a key"));
    CHECK(contains(error("endpoint=udp://a\ntoken=" + kToken + "\ndeadline_ms=1\n"), "neither ipc://PATH nor tcp://"));
}

TEST_CASE("Another machine is not spoken with in the clear, this one is") {
    const std::string rest = "\ntoken=" + kToken + "\ndeadline_ms=1\n";
    CHECK(contains(error("endpoint=tcp://10.0.0.1:5000" + rest), "needs keys"));
    CHECK(error("endpoint=tcp://127.0.0.1:5000" + rest) == "no error");
}

TEST_CASE("A missing file says how to get a host") {
    try {
        read_session("nowhere/.roambus/session");
        FAIL("a missing file was read");
    } catch (const SessionError& error) {
        CHECK(contains(error.what(), "nowhere/.roambus/session"));
        CHECK(contains(error.what(), "roambus run --endpoint"));
    }
}

TEST_CASE("The environment's session comes before the folder's") {
    unsetenv("ROAMBUS_SESSION");
    CHECK(session_path("runs/1") == "runs/1/.roambus/session");
    setenv("ROAMBUS_SESSION", "/elsewhere", 1);
    CHECK(session_path("runs/1") == "/elsewhere");
    unsetenv("ROAMBUS_SESSION");
}
