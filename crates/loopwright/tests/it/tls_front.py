"""TLS in front of a test's model server: tls_front.py CERT KEY ADDRESS SOCKET NAMES

It listens on ADDRESS:443 of the network that it runs in, and passes every connection on to the unix
socket SOCKET. The server names that clients ask for go into the file NAMES, one per line. It says
`ready` and ends when its standard input does, so that it never outlives the test."""

import asyncio
import ssl
import sys

cert, key, address, socket, names = sys.argv[1:]


async def pipe(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    try:
        writer.close()
    except OSError:
        pass


async def client(reader, writer):
    try:
        inner = await asyncio.open_unix_connection(socket)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pipe(reader, inner[1]), pipe(inner[0], writer))


def told(_, name, __):
    with open(names, "a") as file:
        file.write(f"{name}\n")


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    context.set_alpn_protocols(["http/1.1"])
    context.sni_callback = told
    server = await asyncio.start_server(client, address, 443, ssl=context)
    print("ready", flush=True)
    async with server:
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
