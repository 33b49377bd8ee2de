# SPDX-License-Identifier: MIT
"""A server of plain sockets that does what it is told, connection by connection, and a client that
is fetch_one."""
import os, shutil, socket, ssl, struct, subprocess, tempfile, threading, time
import unittest

IMAGE = bytes(i * 7 % 251 for i in range(5000))
TAG = 'ETag: "one"'
WAIT = 120 # seconds, after which a test has failed


def answer(status, *headers, body=b'', length=None):
    """length: None for that of the body, -1 for none."""
    lines = [f'HTTP/1.1 {status} X', 'Connection: close', *headers]
    if length != -1:
        lines.append(f'Content-Length: {len(body) if length is None else length}')
    return '\r\n'.join(lines).encode() + b'\r\n\r\n' + body


def rest(start, image=IMAGE, *headers, tag=TAG, says=None, cut=None):
    says = says or f'bytes {start}-{len(image) - 1}/{len(image)}'
    body = image[start:]
    return answer(206, tag, f'Content-Range: {says}', *headers, body=body[:cut], length=len(body))


class Stall:
    """Nothing more is sent until the client has gone; or this, again and again."""
    def __init__(self, piece=b'', every=0.05):
        self.piece, self.every = piece, every


class Mark:
    """Make a file of that name, so many seconds later."""
    def __init__(self, name, after=0):
        self.name, self.after = name, after


RESET = object() # the connection is reset, not closed


class Server:
    """Answers the n-th connection with the n-th script: bytes, or a list of bytes, Stall, Mark and
    RESET."""
    def __init__(self, *scripts, tls=None):
        self.scripts, self.tls, self.requests, self.faults = scripts, tls, [], []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def url(self, scheme=None):
        return f'{scheme or ("https" if self.tls else "http")}://127.0.0.1:{self.port}'

    def run(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            link.settimeout(WAIT)
            try:
                if self.tls:
                    link = self.tls.wrap_socket(link, server_side=True)
                self.serve(link)
            except OSError as fault: # the client has gone, or refuses the certificate
                self.faults.append(fault)
            finally:
                link.close()

    def serve(self, link):
        request = b''
        while not request.endswith(b'\r\n\r\n'):
            piece = link.recv(4096)
            if not piece:
                return
            request += piece
        self.requests.append(request.decode())
        n = len(self.requests) - 1
        script = self.scripts[n] if n < len(self.scripts) else answer(418)
        for step in [script] if isinstance(script, bytes) else script:
            if isinstance(step, Stall):
                self.stall(link, step)
            elif isinstance(step, Mark):
                time.sleep(step.after)
                open(step.name, 'w').close()
            elif step is RESET:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                return
            else:
                link.sendall(step)
        if not self.tls:
            link.shutdown(socket.SHUT_WR)

    def stall(self, link, step):
        link.settimeout(step.every)
        while True:
            try:
                if not link.recv(1):
                    return
            except TimeoutError:
                pass
            if step.piece:
                link.sendall(step.piece)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(WAIT)


class Case(unittest.TestCase):
    tool = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix='weir-fetch-')
        self.addCleanup(shutil.rmtree, self.folder)

    def server(self, *scripts, tls=None):
        server = Server(*scripts, tls=tls)
        self.addCleanup(server.close)
        return server

    def fetch(self, url, *options, path='sets/a.weir', size=len(IMAGE), allow_http=True, env=()):
        """Return: (name of the error or '0', sentence, bytes)."""
        call = [self.tool, url, path, str(size), 'pause_ms=1', *options]
        done = subprocess.run(call + ['allow_http=1'] * allow_http, capture_output=True,
                              timeout=WAIT, env={**os.environ, **dict(env)})
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        name, sentence, body = done.stdout.split(b'\n', 2)
        return name.decode(), sentence.decode(), body

    def good(self, server, *options, image=IMAGE, requests=1, **more):
        name, sentence, body = self.fetch(server.url(), *options, **more)
        self.assertEqual((name, sentence), ('0', ''))
        self.assertTrue(body == image, 'other bytes came')
        self.assertEqual(len(server.requests), requests)

    def refused(self, server, err, *parts, options=(), requests=1, **more):
        name, sentence, _ = self.fetch(server.url(), *options, **more)
        self.assertEqual(name, err, sentence)
        for part in (server.url() + '/sets/a.weir', *parts):
            self.assertIn(part, sentence)
        self.assertEqual(len(server.requests), requests)
        return sentence

    def asked(self, request, start, validator):
        """Did it ask for the rest of that?"""
        lines = request.split('\r\n')
        self.assertEqual([l for l in lines if l.lower().startswith(('range:', 'if-range:'))],
                         [f'Range: bytes={start}-', f'If-Range: {validator}'] if start else [])


def certificate(folder, name, alternative):
    """Return: a server's context, and the file of the certificate, made by itself."""
    key, cert = f'{folder}/{name}.key', f'{folder}/{name}.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
                    '-days', '2', '-subj', f'/CN={name}', '-addext',
                    f'subjectAltName={alternative}'], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return context, cert
