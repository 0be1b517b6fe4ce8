"""What has to be so before Home Assistant's test plugin, where it is installed, loads anything."""

from hypothesis import settings

# Its own package of this name would win else, and ours would never be found.
import custom_components  # noqa: F401

# How fast a machine is says nothing of what is right: no example fails for the time that it took.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
