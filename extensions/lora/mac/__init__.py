"""MACs of LoRa: pure ALOHA, and listen before talk by channel activity detection, within a region's limits."""
