"""What the schema of a compose file cannot see: names that must meet.

    compose.py FILE     fails, and says where, unless every name in FILE means something in it
"""
import pathlib
import sys

from ruamel.yaml import YAML

MOUNT = "/run/secrets/"


def findings(compose):
    services, secrets = compose["services"], compose.get("secrets", {})
    used = {secret for service in services.values() for secret in service.get("secrets", [])}
    for secret in used - secrets.keys():
        yield f"secret {secret} is used, but declared nowhere"
    for secret in secrets.keys() - used:
        yield f"secret {secret} is declared, but nobody uses it"
    for name, service in services.items():
        own = service.get("secrets", [])
        for variable, value in service.get("environment", {}).items():
            for part in str(value).replace("=", ",").split(","):
                if part.startswith(MOUNT) and part[len(MOUNT):] not in own:
                    yield f"{name}: {variable} names {part}, which is not among its secrets"
        for other in service.get("depends_on", {}):
            if other not in services:
                yield f"{name}: waits for {other}, which is no service"
        for network in service.get("networks", []):
            if network not in compose.get("networks", {}):
                yield f"{name}: is in {network}, which is no network"
        if "ports" in service and name != "gateway":
            yield f"{name}: publishes a port; only the gateway may"


def check(found, expected):
    """The checker itself, on files that break one rule each."""
    found = list(found)
    if len(found) != 1 or expected not in found[0]:
        sys.exit(f"compose.py does not find {expected!r}, but {found}")


def try_on_bad_samples():
    check(findings({"services": {"a": {"secrets": ["x"]}}}), "declared nowhere")
    check(findings({"services": {}, "secrets": {"x": {}}}), "nobody uses it")
    check(findings({"services": {"a": {"environment": {"K": "r=/run/secrets/x"}}}}), "not among its")
    check(findings({"services": {"a": {"depends_on": {"b": {}}}}}), "no service")
    check(findings({"services": {"a": {"networks": ["n"]}}}), "no network")
    check(findings({"services": {"a": {"ports": ["1:1"]}}}), "only the gateway")


try_on_bad_samples()
file = pathlib.Path(sys.argv[1])
wrong = list(findings(YAML(typ="safe").load(file)))
sys.exit("\n".join(f"{file}: {finding}" for finding in wrong) or None)
