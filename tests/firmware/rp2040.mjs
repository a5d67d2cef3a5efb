// The firmware of the RP2040 in a simulator of the chip: node rp2040.mjs BIN SEED <script >told
//
// The lines of the script, in order of time: `NS pin NUMBER LEVEL` drives a pin, `NS in HEX` are bytes of the host, as
// fast as the line carries them, `NS cable IN` and `NS reads READS` say of a host at USB whether its cable is in, and
// whether its program fetches what the board sends (at first both), `NS off` takes the power away, `NS reset KEEPS` starts
// the program, with the memory as it was or with random bytes in it, `NS run` waits for that time and prints an object:
// `out`, the bytes that have left the board since; `stack`, the most bytes of it; `busy_ns`, the longest time without
// sleep after a start; `interrupt`, the most cycles that the interrupt of the pins took; `late_ns`, the longest time that
// a byte waited for the UART to be read; `usb`, what a device at USB said of itself. Time counts from the first reset.
import fs from 'fs';
import { Simulator } from 'rp2040js';
import { Usb } from './usb.mjs';

const CYCLE_NS = 8;
const BYTE_NS = 86806;
const VECTORS = 0x100;
const PINS_EXCEPTION = 16 + 13;
const FIFO_BYTES = 32;
const TX_FULL = 1 << 5;
const ROSC = 0x40060, RANDOM_BIT = 0x1c;
const flash = fs.readFileSync(process.argv[2]);
let drawn = Number(process.argv[3]) || 1;

function random() { // xorshift
  drawn ^= drawn << 13; drawn ^= drawn >>> 17; drawn ^= drawn << 5;
  return drawn >>> 0;
}

let board = null, out = [], hostFreeNs = 0;
const pins = new Map();
const most = { stack: 0, busy_ns: 0, interrupt: 0, late_ns: 0 };

class Board {
  constructor(beganNs, sram) {
    const simulator = new Simulator();
    this.clock = simulator.clock;
    this.chip = simulator.rp2040;
    this.beganNs = beganNs;
    this.chip.logger = { debug() {}, info() {}, warn() {}, error(part, text) { throw new Error(`${part}: ${text}`); } };
    this.chip.flash.set(flash);
    for (let at = 0; at < this.chip.sram.length; at++) this.chip.sram[at] = sram ? sram[at] : random();
    this.chip.peripherals[ROSC].readUint32 = (offset) => (offset === RANDOM_BIT ? random() & 1 : 0);
    this.core = this.chip.core;
    this.core.VTOR = 0x10000000 + VECTORS;
    this.core.SP = this.top = this.chip.flashView.getUint32(VECTORS, true);
    this.core.PC = this.chip.flashView.getUint32(VECTORS + 4, true) & ~1;
    for (const [pin, level] of pins) this.chip.gpio[pin].setInputValue(level);
    this.line();
    this.usb = new Usb(this.chip, (byte) => out.push([this.beganNs + this.clock.nanos, byte]));
    this.coming = [];
    this.waits = null; // since when a byte is in the FIFO
    this.wokeNs = this.inside = 0;
    this.started = false;
  }

  // The transmitter has a FIFO, and sends its bytes one after the other.
  line() {
    const uart = this.chip.uart[0], clock = this.clock;
    let freeNs = 0;
    const waiting = () => Math.ceil((freeNs - clock.nanos) / BYTE_NS);
    uart.onByte = (byte) => {
      freeNs = Math.max(freeNs, clock.nanos) + BYTE_NS;
      out.push([this.beganNs + freeNs, byte]);
    };
    const flags = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(uart), 'flags').get;
    Object.defineProperty(uart, 'flags', { get() { return flags.call(this) | (waiting() > FIFO_BYTES ? TX_FULL : 0); } });
    const read = uart.readUint32.bind(uart);
    uart.readUint32 = (offset) => {
      if (offset === 0 && this.waits !== null) {
        most.late_ns = Math.max(most.late_ns, clock.nanos - this.waits);
        this.waits = null;
      }
      return read(offset);
    };
  }

  hear() {
    while (this.coming.length && this.coming[0][0] <= this.clock.nanos) {
      this.waits ??= this.clock.nanos;
      this.chip.uart[0].feedByte(this.coming.shift()[1]);
    }
  }

  run(untilNs) {
    const { clock, core } = this, end = untilNs - this.beganNs;
    while (clock.nanos < end) {
      this.hear();
      if (core.waiting) {
        most.busy_ns = Math.max(most.busy_ns, this.started ? clock.nanos - this.wokeNs : 0);
        this.started = true;
        const next = this.coming.length ? Math.min(end, this.coming[0][0]) : end;
        clock.tick(Math.max(1, Math.min(clock.nanosToNextAlarm || Infinity, next - clock.nanos)));
        this.wokeNs = clock.nanos;
      } else {
        const took = core.executeInstruction();
        this.inside = core.IPSR === PINS_EXCEPTION ? this.inside + took : 0;
        if (this.inside > most.interrupt) most.interrupt = this.inside;
        if (this.top - core.SP > most.stack) most.stack = this.top - core.SP;
        clock.tick(took * CYCLE_NS);
      }
    }
  }
}

function obey([time, what, ...rest]) {
  const ns = Number(time);
  if (board === null && what !== 'pin') board = new Board(0);
  board?.run?.(ns);
  if (what === 'pin') {
    const [pin, level] = [Number(rest[0]), rest[1] === '1'];
    pins.set(pin, level);
    board?.chip?.gpio[pin].setInputValue(level);
  } else if (what === 'cable') {
    board.usb?.cable(rest[0] === '1');
  } else if (what === 'reads') {
    board.usb.reads = rest[0] === '1';
  } else if (what === 'in' && board?.usb?.pulledUp) {
    board.usb.queue.push(...Buffer.from(rest[0], 'hex'));
  } else if (what === 'in') {
    for (const byte of Buffer.from(rest[0], 'hex')) {
      hostFreeNs = Math.max(hostFreeNs, ns) + BYTE_NS;
      board?.coming?.push([hostFreeNs - board.beganNs, byte]);
    }
  } else if (what === 'off') {
    board = { off: true };
    out = out.filter(([atNs]) => atNs <= ns);
  } else if (what === 'reset') {
    out = out.filter(([atNs]) => atNs <= ns); // what is in the FIFO is lost
    board = new Board(ns, rest[0] === '1' ? board?.chip?.sram : undefined);
  } else {
    const left = out.filter(([atNs]) => atNs <= ns).map(([, byte]) => byte);
    out = out.filter(([atNs]) => atNs > ns);
    fs.writeSync(1, JSON.stringify({ out: Buffer.from(left).toString('hex'), usb: board?.usb?.told, ...most }) + '\n');
  }
}

const buffer = Buffer.alloc(1 << 16);
let rest = '';
for (;;) {
  const got = fs.readSync(0, buffer);
  if (got === 0) break;
  const lines = (rest + buffer.toString('latin1', 0, got)).split('\n');
  rest = lines.pop();
  for (const line of lines) obey(line.split(' '));
}
