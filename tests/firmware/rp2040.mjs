// The firmware of the RP2040 in a simulator of the chip: node rp2040.mjs BIN <script >told
//
// Each line of the script is an array, in order of time: [NS, "pin", NUMBER, LEVEL] drives a pin, [NS, "in", HEX] are
// bytes of the host, [NS, "end"] ends it. Time counts from the reset. Printed is an object: `out`, the bytes that the
// board sent; `stack`, the most bytes of it; `busy_ns`, the longest time without sleep after the start; `interrupt`, the
// most cycles that the interrupt of the pins took.
import fs from 'fs';
import { Simulator } from 'rp2040js';

const CYCLE_NS = 8;
const BYTE_NS = 86806;
const VECTORS = 0x100;
const PINS_EXCEPTION = 16 + 13;
const simulator = new Simulator();
const chip = simulator.rp2040;
chip.logger = { debug() {}, info() {}, warn() {}, error(part, text) { throw new Error(`${part}: ${text}`); } };
chip.flash.set(fs.readFileSync(process.argv[2]));
chip.core.VTOR = 0x10000000 + VECTORS;
chip.core.SP = chip.flashView.getUint32(VECTORS, true);
chip.core.PC = chip.flashView.getUint32(VECTORS + 4, true) & ~1;

const out = [];
chip.uart[0].onByte = (byte) => out.push(byte);
const todo = [];
for (const line of fs.readFileSync(0, 'utf8').split('\n').filter(Boolean)) {
  const [ns, what, ...rest] = JSON.parse(line);
  if (what === 'in') {
    Buffer.from(rest[0], 'hex').forEach((byte, at) => todo.push([ns + at * BYTE_NS, () => chip.uart[0].feedByte(byte)]));
  } else if (what === 'pin') {
    todo.push([ns, () => chip.gpio[rest[0]].setInputValue(rest[1])]);
  } else {
    todo.push([ns, null]);
  }
}
todo.sort((one, other) => one[0] - other[0]);

let next = 0, stack = chip.core.SP, busyNs = 0, wokeNs = 0, started = false, interrupt = 0, inside = 0;
const top = chip.core.SP;
for (;;) {
  while (next < todo.length && simulator.clock.nanos >= todo[next][0]) {
    if (todo[next][1] === null) {
      const told = { out: Buffer.from(out).toString('hex'), stack: top - stack, busy_ns: busyNs, interrupt };
      process.stdout.write(JSON.stringify(told), () => process.exit(0));
    } else {
      todo[next][1]();
    }
    next++;
  }
  if (next >= todo.length) break;
  if (chip.core.waiting) {
    busyNs = started ? Math.max(busyNs, simulator.clock.nanos - wokeNs) : 0;
    started = true;
    const alarm = simulator.clock.nanosToNextAlarm || Infinity;
    simulator.clock.tick(Math.max(1, Math.min(alarm, todo[next][0] - simulator.clock.nanos)));
    wokeNs = simulator.clock.nanos;
  } else {
    const took = chip.core.executeInstruction();
    inside = chip.core.IPSR === PINS_EXCEPTION ? inside + took : 0;
    interrupt = Math.max(interrupt, inside);
    if (chip.core.SP < stack) stack = chip.core.SP;
    simulator.clock.tick(took * CYCLE_NS);
  }
}
