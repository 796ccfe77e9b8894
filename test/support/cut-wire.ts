/** A way to a server on loopback that a test cuts when it wants to. */
import { connect, createServer, type Socket } from "node:net";

export class CutWire {
  readonly #sockets = new Set<Socket>();
  readonly #server = createServer((near) => this.#join(near));
  #target = 0;
  /** Called with what a client sends; the wire is cut when it says so, after the server got it. */
  cutAfter: (sent: Buffer) => boolean = () => false;

  async open(url: string): Promise<string> {
    const target = new URL(url);
    this.#target = Number(target.port);
    await new Promise<void>((resolve) => void this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    target.port = String(typeof address === "object" ? address?.port : 0);
    return target.href;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #join(near: Socket): void {
    const far = connect(this.#target, "127.0.0.1");
    let isDeaf = false;
    for (const socket of [near, far]) {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => [near, far].forEach((end) => end.destroy()));
    }
    far.on("data", (bytes) => {
      if (!isDeaf) near.write(bytes);
      else near.destroy();
    });
    near.on("data", (bytes) => {
      isDeaf ||= this.cutAfter(bytes);
      far.write(bytes);
    });
  }
}
