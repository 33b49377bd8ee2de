# SPDX-License-Identifier: MIT
"""Makes a test authority and its certificates in a folder: ca.crt, server.crt (for redis.example
and 127.0.0.1), client.crt, expired.crt, the self-signed alone.crt, and their keys."""
import os
import subprocess


def make(folder):
    def openssl(*command):
        subprocess.run(["openssl", *command], check=True, cwd=folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    def alone(name, subject, *options):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", name + ".key", "-subj", "/CN=" + subject, "-days", "30", "-out",
                name + ".crt", *options)

    alone("ca", "test authority")
    alone("alone", "alone", "-addext", "subjectAltName=IP:127.0.0.1")
    of_server = "DNS:redis.example,IP:127.0.0.1"
    for name, names, days in (("server", of_server, 30), ("client", "DNS:client", 30),
                              ("expired", of_server, -1)):
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", name + ".key", "-subj", "/CN=" + name, "-out", name + ".csr")
        with open(os.path.join(folder, name + ".ext"), "w") as f:
            f.write("subjectAltName=" + names)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", str(days), "-extfile", name + ".ext", "-out",
                name + ".crt")
    openssl("ec", "-in", "client.key", "-aes128", "-passout", "pass:secret", "-out",
            "locked.key")


def of_server(folder, port):
    """The options of a redis-server that also asks for a client's certificate."""
    return ("--tls-port", str(port), "--tls-cert-file", folder + "/server.crt",
            "--tls-key-file", folder + "/server.key", "--tls-ca-cert-file", folder + "/ca.crt")
