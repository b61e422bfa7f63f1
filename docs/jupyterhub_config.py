"""A JupyterHub for this course, on one machine; docs/hub.md says how to set it up."""

from pathlib import Path

COURSE = Path(__file__).resolve().parents[1]
BIN = COURSE / ".venv" / "bin"

c = get_config()  # noqa: F821  (JupyterHub knows it)
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a web server with a certificate
c.Spawner.environment = {
    "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
    "LIB2048_COMPILED": "/srv/compiled",  # once, by root; students read it
    "JUPYTER_CONFIG_PATH": f"{COURSE}/lib2048/course/reader/jupyter",  # a kernel ends with its tab
    "OMP_NUM_THREADS": "2",  # torch would take every core for each student
}
# Each student has copies of their own, in my/ at home; a later start adds what is new.
c.Spawner.cmd = [
    "sh",
    "-c",
    'export LIB2048_MY="$HOME/my"; lib2048 lessons update; exec jupyterhub-singleuser "$@"',
    "sh",
]
c.Spawner.default_url = "/lab/tree/my/00_start_here.ipynb"
c.JupyterHub.services = [
    {  # a kernel that nobody has used for an hour gives its memory back
        "name": "idle",
        "command": [f"{BIN}/python", "-m", "jupyterhub_idle_culler", "--timeout=3600"],
    }
]
c.JupyterHub.load_roles = [
    {
        "name": "idle",
        "services": ["idle"],
        "scopes": ["list:users", "read:users:activity", "read:servers", "delete:servers"],
    }
]
