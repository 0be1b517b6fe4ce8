"""The integration inside Home Assistant: real Assist pipelines, a real server over a socket."""
