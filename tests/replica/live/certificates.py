# SPDX-License-Identifier: MIT
"""An authority and two certificates of it, in a folder: ca.crt, server.crt (of redis.example and
127.0.0.1), client.crt, and their keys."""
import os
import subprocess


def make(folder):
    def openssl(*command):
        subprocess.run(["openssl", *command], check=True, cwd=folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-subj",
            "/CN=test authority", "-days", "30", "-out", "ca.crt")
    for name, names in (("server", "DNS:redis.example,IP:127.0.0.1"), ("client", "DNS:client")):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", name + ".key", "-subj",
                "/CN=" + name, "-out", name + ".csr")
        with open(os.path.join(folder, name + ".ext"), "w") as f:
            f.write("subjectAltName=" + names)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "30", "-extfile", name + ".ext", "-out",
                name + ".crt")


def of_server(folder, port):
    """The options of a redis-server that asks for a client's certificate too."""
    return ("--tls-port", str(port), "--tls-cert-file", folder + "/server.crt",
            "--tls-key-file", folder + "/server.key", "--tls-ca-cert-file", folder + "/ca.crt")
