#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What weir__fetch() makes of servers that break, lie, stall and change their mind.

usage: test_fetch.py FETCH_ONE [TEST...]"""
import base64, socket, sys, time, unittest
from email.utils import formatdate
from hostile import (Case, IMAGE, Mark, RESET, Stall, TAG, answer, certificate, rest)

N = len(IMAGE)
OTHER = bytes(255 - b for b in IMAGE)


def chunk(data):
    return b'%x\r\n%s\r\n' % (len(data), data)


def chunked(*pieces, end=True):
    head = answer(200, TAG, 'Transfer-Encoding: chunked', length=-1)
    return (head + b''.join(map(chunk, pieces)) + (b'0\r\n\r\n' if end else b''))


def cut(at, *headers, image=IMAGE):
    return answer(200, *headers, body=image[:at], length=len(image))


class Whole(Case):
    def test_what_is_asked(self):
        server = self.server(answer(200, body=IMAGE))
        nowhere = 'http://127.0.0.1:1'
        names = ('http_proxy', 'https_proxy', 'all_proxy', 'HTTPS_PROXY', 'ALL_PROXY')
        self.good(server, env=[(name, nowhere) for name in names])
        lines = server.requests[0].split('\r\n')
        self.assertEqual(lines[0], 'GET /sets/a.weir HTTP/1.1')
        self.assertEqual({l.split(':')[0] for l in lines[1:] if l},
                         {'Host', 'User-Agent', 'Accept', 'Accept-Encoding'})
        self.assertIn('Accept-Encoding: identity', lines)
        self.assertRegex(server.requests[0], r'User-Agent: weir/\d+\.\d+\.\d+\r\n')

    def test_no_length(self):
        self.good(self.server(chunked(IMAGE[:1], IMAGE[1:])))
        self.good(self.server(answer(200, body=IMAGE, length=-1)))
        self.good(self.server(answer(200, 'Content-Encoding: identity', body=IMAGE)))

    def test_folders(self):
        for base in ('/pub/x', '/pub/x/', '/pub/x//'):
            server = self.server(answer(200, body=IMAGE))
            name, _, body = self.fetch(server.url() + base)
            self.assertEqual((name, body), ('0', IMAGE))
            self.assertIn('GET /pub/x/sets/a.weir ', server.requests[0])


class Rest(Case):
    def test_goes_on(self):
        server = self.server(cut(1000, TAG), rest(1000, cut=1500), rest(2500, cut=1), rest(2501))
        self.good(server, requests=4)
        for request, start in zip(server.requests, (0, 1000, 2500, 2501)):
            self.asked(request, start, '"one"')

    def test_every_cut(self):
        image = IMAGE[:20]
        for at in range(1, len(image)):
            server = self.server([cut(at, TAG, image=image), RESET] if at % 2 else
                                 cut(at, TAG, image=image), rest(at, image))
            name, sentence, body = self.fetch(server.url(), size=len(image))
            self.assertEqual((name, body), ('0', image), sentence)
            # a reset may overtake bytes that were sent before it
            if at % 2 == 0:
                self.asked(server.requests[1], at, '"one"')

    def test_a_date_is_strong_or_not(self):
        now = int(time.time())
        sent = 'Date: ' + formatdate(now, usegmt=True)
        for age, strong in ((3600, True), (60, True), (59, False), (0, False), (-5, False)):
            changed = formatdate(now - age, usegmt=True)
            headers = (sent, 'Last-Modified: ' + changed)
            second = rest(700, tag='X: y') if strong else answer(200, body=IMAGE)
            server = self.server(cut(700, *headers), second)
            self.good(server, requests=2)
            self.asked(server.requests[1], 700 if strong else 0, changed)
        changed = formatdate(now - 3600, usegmt=True)
        server = self.server(cut(700, 'Last-Modified: ' + changed), answer(200, body=IMAGE))
        self.good(server, requests=2) # without a Date, nobody knows
        self.asked(server.requests[1], 0, '')

    def test_weak_is_not_gone_on_with(self):
        now = int(time.time())
        dates = ('Date: ' + formatdate(now, usegmt=True),
                 'Last-Modified: ' + formatdate(now - 9999, usegmt=True))
        for headers in ((), ('ETag: W/"one"',), ('ETag: one',), ('ETag: "',), ('ETag: "a"b"',),
                        (TAG, 'ETag: "two"'), ('ETag: "' + 'x' * 255 + '"',),
                        ('ETag: W/"one"', *dates)):
            server = self.server(cut(700, *headers), answer(200, body=OTHER))
            self.good(server, requests=2, image=OTHER)
            self.asked(server.requests[1], 0, '')

    def test_changes_between(self):
        for tag in ('ETag: "two"', 'ETag: W/"one"', 'X: y'):
            server = self.server(cut(700, TAG), rest(700, OTHER, tag=tag),
                                 answer(200, body=OTHER))
            self.good(server, image=OTHER, requests=3)
            self.asked(server.requests[2], 0, '')
        # the whole instead of the rest: and its tag is the one that counts from then on
        server = self.server(cut(700, TAG), cut(900, 'ETag: "two"', image=OTHER),
                             rest(900, OTHER, tag='ETag: "two"'))
        self.good(server, image=OTHER, requests=3)
        self.asked(server.requests[1], 700, '"one"')
        self.asked(server.requests[2], 900, '"two"')

    def test_a_date_changes_between(self):
        now = int(time.time())
        dates = [formatdate(now - age, usegmt=True) for age in (9000, 8000)]
        server = self.server(cut(700, 'Date: ' + formatdate(now, usegmt=True),
                                 'Last-Modified: ' + dates[0]),
                             rest(700, OTHER, tag='Last-Modified: ' + dates[1]),
                             answer(200, body=OTHER))
        self.good(server, image=OTHER, requests=3)

    def test_no_such_part(self):
        server = self.server(cut(700, TAG), answer(416), answer(200, body=OTHER))
        self.good(server, image=OTHER, requests=3)
        self.asked(server.requests[2], 0, '')
        self.refused(self.server(answer(416)), 'EPROTO', '416')

    def test_lies_about_the_part(self):
        for says in (f'bytes 0-{N - 1}/{N}', f'bytes 701-{N - 1}/{N}', f'bytes 700-{N - 2}/{N}',
                     f'bytes 700-{N - 1}/{N + 1}', f'bytes 700-{N - 1}/*', f'700-{N - 1}/{N}',
                     'nonsense'):
            self.refused(self.server(cut(700, TAG), rest(700, says=says)), 'EBADMSG', says,
                         requests=2)
        self.refused(self.server(cut(700, TAG), answer(206, TAG, body=IMAGE[700:])), 'EBADMSG',
                     'part ""', requests=2)
        self.refused(self.server(cut(700, TAG), rest(700, IMAGE, 'Content-Range: bytes 0-1/2')),
                     'EBADMSG', 'part ""', requests=2)
        server = self.server(cut(700, TAG), answer(206, TAG, length=N - 1, body=IMAGE,
                                                   *[f'Content-Range: bytes 700-{N - 1}/{N}']))
        self.refused(server, 'EBADMSG', f'{N - 1} bytes', requests=2)
        self.refused(self.server(rest(0)), 'EPROTO', '206')

    def test_encoded_rest(self):
        server = self.server(cut(700, TAG), rest(700, IMAGE, 'Content-Encoding: gzip'))
        self.refused(server, 'EBADMSG', 'gzip', requests=2)


class Lies(Case):
    def test_length(self):
        for size in (0, 1, N - 1, N + 1, 2**40, 2**63 - 1):
            self.refused(self.server(answer(200, TAG, length=size, body=IMAGE)), 'EBADMSG',
                         f'sends {size} bytes', f'has {N}')

    def test_longer(self):
        for body in (IMAGE + b'x', IMAGE * 40):
            self.refused(self.server(answer(200, body=body, length=-1)), 'EBADMSG', 'more than',
                         f'{N} bytes')
            self.refused(self.server(chunked(body)), 'EBADMSG', 'more than')
        self.refused(self.server(chunked(IMAGE, b'x')), 'EBADMSG', 'more than')
        server = self.server(cut(700, TAG), answer(206, TAG, body=IMAGE[700:] + b'x', length=-1,
                                                   *[f'Content-Range: bytes 700-{N - 1}/{N}']))
        self.refused(server, 'EBADMSG', 'more than', requests=2)

    def test_shorter(self):
        short = answer(200, body=IMAGE[:-1], length=-1)
        self.refused(self.server(*[short] * 9), 'EIO', f'only {N - 1} of {N}', 'try 3 of 3',
                     options=['tries=3'], requests=3)
        server = self.server(chunked(IMAGE[:-1]), *[rest(N - 1, cut=0)] * 9)
        self.refused(server, 'EIO', 'try 5 of 5', requests=5)
        # all of it came, but not the end that was announced: nothing is left to ask for
        server = self.server(*[chunked(IMAGE, end=False)] * 2, chunked(IMAGE))
        self.good(server, requests=3)
        for request in server.requests:
            self.asked(request, 0, '')

    def test_encoded(self):
        for coding in ('gzip', 'br', 'x-unknown', 'identity, gzip', 'gzip, identity'):
            self.refused(self.server(answer(200, 'Content-Encoding: ' + coding, body=IMAGE)),
                         'EBADMSG', coding, 'not asked for')
        self.refused(self.server(answer(200, 'Content-Encoding: identity',
                                        'Content-Encoding: gzip', body=IMAGE)), 'EBADMSG', 'gzip')

    def test_no_http(self):
        for text in (b'SSH-2.0-x\r\n', IMAGE, b'HTTP/9.9 200 OK\r\n\r\n', b'\0' * 100):
            self.refused(self.server(text), 'EPROTO')

    def test_endless_headers(self):
        self.refused(self.server([b'HTTP/1.1 200 OK\r\n', b'X: 123456789\r\n' * 10000,
                                  Stall(b'X: 1\r\n')]), 'EPROTO', 'headers')
        self.refused(self.server([b'HTTP/1.1 100 Continue\r\n\r\n' * 9000, Stall()]), 'EPROTO',
                     'headers')


class Status(Case):
    def test_redirects(self):
        other = self.server(answer(200, body=IMAGE))
        for to in ('file:///etc/passwd', other.url() + '/sets/a.weir', 'ftp://127.0.0.1/x',
                   '/elsewhere'):
            for status in (301, 302, 303, 307, 308):
                self.refused(self.server(answer(status, 'Location: ' + to, body=IMAGE)), 'EPROTO',
                             str(status), 'redirects are not followed')
        self.assertEqual(other.requests, [])

    def test_final(self):
        for status, err in ((404, 'ENOENT'), (410, 'ENOENT'), (401, 'EACCES'), (403, 'EACCES'),
                            (400, 'EPROTO'), (501, 'EPROTO'), (204, 'EPROTO')):
            self.refused(self.server(answer(status, body=b'' if status == 204 else IMAGE,
                                            length=-1 if status == 204 else None)), err,
                         f'answers {status}')

    def test_again(self):
        for status in (408, 429, 500, 502, 503, 504):
            self.good(self.server(answer(status), answer(status, body=OTHER),
                                  answer(200, body=IMAGE)), requests=3)
            self.refused(self.server(*[answer(status)] * 9), 'EIO', f'answers {status}',
                         'try 2 of 2', options=['tries=2'], requests=2)
        # what came before such an answer is still there
        server = self.server(cut(700, TAG), answer(500, 'ETag: "two"', body=OTHER), rest(700))
        self.good(server, requests=3)
        self.asked(server.requests[2], 700, '"one"')


class Slow(Case):
    def test_stalls(self):
        head = answer(200, TAG, length=N)
        for script in ([Stall()], [head, Stall()], [head + IMAGE[:700], Stall()],
                       [head, Stall(b'x')], [b'HTTP/1.1 200 OK\r\n', Stall(b'X: y\r\n')]):
            self.refused(self.server(script), 'ETIMEDOUT', 'try 1 of 1',
                         options=['stall_s=1', 'tries=1'])

    def test_goes_on_after(self):
        server = self.server([cut(700, TAG), Stall()], rest(700))
        self.good(server, 'stall_s=1', requests=2)
        self.asked(server.requests[1], 700, '"one"')

    def test_stop(self):
        name = self.folder + '/stop-'
        for i, script in enumerate((
                [Mark(name + '0'), Stall()],
                [cut(700, TAG), Mark(name + '1'), Stall()],
                [answer(500), Mark(name + '2', after=0.3)])): # most likely in the pause
            server = self.server(script, answer(200, body=IMAGE))
            self.refused(server, 'ECANCELED', f'of {N} bytes',
                         options=['pause_ms=600000', f'stop={name}{i}'])


class Network(Case):
    def test_nobody_listens(self):
        with socket.socket() as deaf:
            deaf.bind(('127.0.0.1', 0)) # so that nobody else listens there either
            url = f'http://127.0.0.1:{deaf.getsockname()[1]}'
            name, sentence, _ = self.fetch(url, 'tries=2')
        self.assertEqual(name, 'EIO', sentence)
        self.assertIn('try 2 of 2', sentence)

    def test_resets(self):
        self.good(self.server([RESET], [b'', RESET], b'', answer(200, body=IMAGE)), requests=4)


class Tls(Case):
    def setUp(self):
        super().setUp()
        self.tls, self.ca = certificate(self.folder, 'here', 'IP:127.0.0.1')

    def test_trusted(self):
        self.good(self.server(answer(200, body=IMAGE), tls=self.tls), 'ca_file=' + self.ca,
                  allow_http=False)
        server = self.server(cut(700, TAG), rest(700), tls=self.tls)
        self.good(server, 'ca_file=' + self.ca, requests=2)
        self.asked(server.requests[1], 700, '"one"')

    def test_not_trusted(self):
        _, another = certificate(self.folder, 'another', 'IP:127.0.0.1')
        wrong, wrong_ca = certificate(self.folder, 'wrong', 'DNS:elsewhere.test,IP:127.0.0.2')
        for tls, options in ((self.tls, []), (self.tls, ['ca_file=' + another]),
                             (wrong, ['ca_file=' + wrong_ca])):
            self.refused(self.server(answer(200, body=IMAGE), tls=tls), 'EKEYREJECTED',
                         options=options, requests=0)

    def test_no_file(self):
        self.refused(self.server(tls=self.tls), 'EINVAL', options=['ca_file=/none.pem'],
                     requests=0)

    def test_no_tls(self):
        server = self.server(answer(200, body=IMAGE))
        name, sentence, _ = self.fetch(server.url('https'), 'tries=1', 'connect_ms=2000')
        self.assertIn(name, ('EIO', 'ETIMEDOUT'), sentence)
        self.assertEqual(server.requests, [])

    def test_user(self):
        server = self.server(answer(200, body=IMAGE), answer(401), tls=self.tls)
        url = server.url().replace('//', '//somebody:s%40cret@')
        name, sentence, body = self.fetch(url, 'ca_file=' + self.ca)
        self.assertEqual((name, body), ('0', IMAGE), sentence)
        self.assertIn('Authorization: Basic ' + base64.b64encode(b'somebody:s@cret').decode(),
                      server.requests[0])
        name, sentence, _ = self.fetch(url, 'ca_file=' + self.ca)
        self.assertEqual(name, 'EACCES')
        self.assertIn(server.url() + '/sets', sentence)
        self.assertNotIn('cret', sentence)
        self.assertNotIn('somebody', sentence)


class Options(Case):
    def test_base_url(self):
        for url, part in (('http://127.0.0.1:1', 'image_http'), ('ftp://h', 'neither'),
                          ('file:///etc', 'neither'), ('h.test/x', 'neither'), ('', 'neither'),
                          ('HTTPS://h', 'neither'), ('https://', ''), ('https:///x', 'no host'),
                          ('https://h?q', 'query'), ('https://h/#f', 'query'),
                          ('https://h/x?', 'query'), ('https://h x', 'blank'),
                          ('https://h\t', 'blank'), ('https://h\\@i', 'blank'),
                          ('https://\u00e9', 'ASCII'), ('https://h:99999', ''),
                          ('https://h:1x', 'host or port'), ('https://h:0', 'host or port'),
                          ('https://[::1', 'host or port'), ('https://@', 'host or port'),
                          ('https://a:%4@h', 'encoded'), ('https://h/' + 'x' * 2048, '2048')):
            name, sentence, _ = self.fetch(url, allow_http=False)
            self.assertEqual(name, 'EINVAL', url + ' ' + sentence)
            self.assertIn(part, sentence)

    def test_no_password_is_shown(self):
        for url in ('http://me:hidden@127.0.0.1:1', 'https://me:hidden@h?q',
                    'https://me:hidden@h:99999', 'ftp://me:hidden@h', 'https://me:hidden@',
                    'https://me:hid@den@127.0.0.1:1', 'https://me:hidden@127.0.0.1:1',
                    'https://me:hidden%00@127.0.0.1:1', 'https://hidden@127.0.0.1:1',
                    'https://hidden:hidden%zz@127.0.0.1:1', 'https://me:hidden@h@:1'):
            name, sentence, _ = self.fetch(url, 'tries=1')
            self.assertIn(name, ('EINVAL', 'EIO'), sentence)
            self.assertTrue(sentence)
            self.assertNotIn('hid', sentence)
        name, sentence, _ = self.fetch('http://me:hidden@127.0.0.1:1')
        self.assertEqual(name, 'EINVAL')
        self.assertIn('http://127.0.0.1:1/sets/a.weir', sentence)
        self.assertIn('in the clear', sentence)

    def test_path(self):
        server = self.server()
        for path in ('', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a?b', 'a#b', 'a%2fb', 'a b',
                     '@h/a', 'a\\b', 'a:b', 'x' * 256):
            name, sentence, _ = self.fetch(server.url(), path=path)
            self.assertEqual(name, 'EINVAL', sentence)
            self.assertIn(f'"{path}" is no path', sentence)
        self.assertEqual(self.fetch(server.url(), size=0)[0], 'EINVAL')
        self.assertEqual(server.requests, [])


if __name__ == '__main__':
    Case.tool = sys.argv.pop(1)
    unittest.main()
