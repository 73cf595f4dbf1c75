// Knows a wire that can be cut: a proxy of TCP between a browser and the pages.

import net from "node:net";

export class Wire {
  /** Lays a wire to an origin. @param {string} origin */
  static async to(origin) {
    const { hostname, port } = new URL(origin);
    const wire = new Wire(hostname, Number(port));
    await new Promise((done) => wire.server.listen(0, "127.0.0.1", done));
    wire.origin = `http://127.0.0.1:${wire.server.address().port}`;
    return wire;
  }

  constructor(host, port) {
    this.isCut = false;
    this.sockets = new Set();
    this.server = net.createServer((near) => {
      if (this.isCut) return void near.destroy();
      const far = net.connect(port, host);
      for (const [one, other] of [[near, far], [far, near]]) {
        this.sockets.add(one);
        one.pipe(other);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.sockets.delete(one);
          other.destroy();
        });
      }
    });
  }

  /** Ends every connection, and lets none through until `mend`. */
  cut() {
    this.isCut = true;
    for (const socket of this.sockets) socket.destroy();
  }

  mend() {
    this.isCut = false;
  }

  close() {
    this.cut();
    return new Promise((done) => this.server.close(done));
  }
}
