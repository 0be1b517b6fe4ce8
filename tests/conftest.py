"""What has to be so before Home Assistant's test plugin, where it is installed, loads anything."""

# Its own package of this name would win else, and ours would never be found.
import custom_components  # noqa: F401
