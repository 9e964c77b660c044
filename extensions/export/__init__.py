"""Results for other programs: OMNeT++'s result files, and captures for Wireshark with their dissector."""
