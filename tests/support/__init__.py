"""What several tests share: scenarios without a radio, and agents made for testing."""
