// The USB controller of the RP2040 as its program sees it, and Linux at the other end of the cable. They take the place of
// those of rp2040js, which fetch each packet at once: without frames, addresses and toggles, and with no cable to unplug.
//
// What a program must not do is an error that ends the simulator: a wrong clock, a buffer that is handed over before
// its other bits stand, a packet handed over at the end of a frame (erratum RP2040-E15), an answer that is not a device of
// CDC-ACM, no answer at all. A packet with the wrong toggle is lost, as in life.
import { BasePeripheral } from 'rp2040js';

const USB = 0x50110, IRQ = 5, CLOCK_USB_CTRL = 0x40008054, CLOCK_ENABLE = 1 << 11;
const ADDRESS = 0x00, MAIN = 0x40, FRAME = 0x48, SIE = 0x4c, STATUS = 0x50, DONE = 0x58, STALL = 0x68;
const MUXING = 0x74, PWR = 0x78, INTE = 0x90, INTS = 0x98;
const PULL_UP = 1 << 16, INTERRUPT_0 = 1 << 29, RESET_SEEN = 1 << 19, SETUP_SEEN = 1 << 17;
const INT_FRAME = 1 << 17, INT_SETUP = 1 << 16, INT_RESET = 1 << 12, INT_DONE = 1 << 4;
const FULL = 1 << 15, DATA1 = 1 << 13, STALLED = 1 << 11, AVAILABLE = 1 << 10, BYTES = 0x3ff;
const ENABLED = 1 << 31, EACH = 1 << 29;
const TOKEN_NS = 50_000, TOKENS = 20; // of a frame
const STANDS_NS = 62.5, FRAME_END_NS = 800_000;
const PACKET = 64, HOST_ADDRESS = 9, PATIENCE_MS = 1000;
const CODING = [0x00, 0xc2, 0x01, 0x00, 0, 0, 8]; // 115200 8N1

function need(holds, text) {
  if (!holds) throw new Error(`USB: ${text}`);
}

export class Usb extends BasePeripheral {
  constructor(chip, hear) {
    super(chip, 'USB');
    this.hear = hear;
    this.registers = new Map([ADDRESS, MAIN, SIE, STATUS, DONE, STALL, MUXING, PWR, INTE].map((each) => [each, 0]));
    this.frame = this.frameNs = this.framed = this.tokens = 0;
    this.stands = new Map();
    this.queue = [];
    this.reads = true;
    this.told = null;
    chip.peripherals[USB] = this;
    chip.usbCtrl.DPRAMUpdated = (offset, value) => this.written(offset, value);
    this.alarm = chip.clock.createAlarm(() => this.token());
    this.cable(true);
  }

  get view() { return this.rp2040.usbDPRAMView; }
  get pulledUp() { return (this.registers.get(SIE) & PULL_UP) !== 0; }
  get interrupts() {
    const status = this.registers.get(STATUS);
    return (this.framed ? INT_FRAME : 0) | (status & SETUP_SEEN ? INT_SETUP : 0) | (status & RESET_SEEN ? INT_RESET : 0) |
      (this.registers.get(DONE) ? INT_DONE : 0);
  }

  // The controller

  readUint32(offset) {
    if (offset === INTS) return this.interrupts & this.registers.get(INTE);
    if (offset === FRAME) { this.framed = 0; this.update(); return this.frame & 0x7ff; }
    need(this.registers.has(offset), `nobody knows the register ${offset.toString(16)}`);
    return this.registers.get(offset);
  }

  writeUint32(offset, value) {
    need(this.registers.has(offset), `nobody knows the register ${offset.toString(16)}`);
    const clears = offset === STATUS || offset === DONE;
    this.registers.set(offset, clears ? this.registers.get(offset) & ~value : value);
    if (offset === MAIN && value & 1) {
      const clock = this.rp2040.readUint32(CLOCK_USB_CTRL);
      need(this.rp2040.pllUsb.frequency === 48e6 && (clock & 0xe0) === 0 && clock & CLOCK_ENABLE, 'no clock of 48 MHz');
    }
    this.update();
  }

  update() { this.rp2040.setInterrupt(IRQ, (this.interrupts & this.registers.get(INTE)) !== 0); }

  written(offset, value) {
    if (offset < 0x80 || offset >= 0x100) return;
    const { nanos } = this.rp2040.clock, before = this.stands.get(offset);
    if (value & AVAILABLE) {
      need(before?.value === (value & ~AVAILABLE) && nanos - before.ns >= STANDS_NS, 'AVAILABLE before the rest stands');
      const isIn = (offset & 4) === 0 && offset > 0x84;
      need(!isIn || nanos - this.frameNs <= FRAME_END_NS || !this.framing, 'a packet at the end of a frame');
    }
    this.stands.set(offset, { value: value & ~AVAILABLE, ns: nanos });
  }

  finish(offset, control, endpoint, out) {
    this.view.setUint32(offset, control, true);
    const each = endpoint === 0 ? this.registers.get(SIE) & INTERRUPT_0 : this.control(endpoint, out) & EACH;
    if (each) this.registers.set(DONE, this.registers.get(DONE) | ((out ? 2 : 1) << (2 * endpoint)));
    this.update();
  }

  control(endpoint, out) {
    const control = this.view.getUint32(8 * endpoint + (out ? 4 : 0), true);
    need(control & ENABLED, `no endpoint ${endpoint}`);
    return control;
  }

  place(endpoint, out) { return endpoint === 0 ? 0x100 : this.control(endpoint, out) & 0xffc0; }

  // One transaction: undefined is NAK, null is STALL.

  buffer(endpoint, out) {
    need(this.registers.get(ADDRESS) === this.address, 'no answer at its address');
    const offset = 0x80 + 8 * endpoint + (out ? 4 : 0), control = this.view.getUint32(offset, true);
    const place = this.place(endpoint, out);
    const stalled = control & STALLED && (endpoint !== 0 || this.registers.get(STALL) & (out ? 2 : 1));
    return { offset, control, place, stalled, waits: (control & AVAILABLE) !== 0 };
  }

  fetch(endpoint, toggle) {
    const { offset, control, place, stalled, waits } = this.buffer(endpoint, false);
    if (stalled) return null;
    if (!waits || !(control & FULL)) return undefined;
    const data = [...this.rp2040.usbDPRAM.slice(place, place + (control & BYTES))];
    this.finish(offset, control & ~(AVAILABLE | FULL), endpoint, false);
    return ((control & DATA1) !== 0) === (toggle === 1) ? data : 'lost';
  }

  send(endpoint, toggle, data) {
    const { offset, control, place, stalled, waits } = this.buffer(endpoint, true);
    if (stalled) return null;
    if (!waits) return undefined;
    if (((control & DATA1) !== 0) !== (toggle === 1)) return 'lost';
    need(data.length <= (control & BYTES), 'the buffer is too small');
    this.rp2040.usbDPRAM.set(data, place);
    this.finish(offset, (control & ~(AVAILABLE | BYTES)) | FULL | data.length, endpoint, true);
    return data;
  }

  // The host

  cable(plugged) {
    this.life = plugged ? this.host() : null;
    this.framing = this.ready = false;
    this.queue = [];
    this.alarm.cancel();
    if (plugged) this.alarm.schedule(TOKEN_NS);
  }

  token() {
    if (this.tokens++ % TOKENS === 0 && this.framing) {
      this.frame++;
      this.framed = 1;
      this.frameNs = this.rp2040.clock.nanos;
      this.update();
    }
    this.life.next();
    this.alarm.schedule(TOKEN_NS);
  }

  *pause(ms) { for (let token = 0; token < ms * TOKENS; token++) yield; }

  *until(transaction) {
    for (let token = 0; token < PATIENCE_MS * TOKENS; token++) {
      const got = transaction();
      if (got !== undefined) return got;
      yield;
    }
    throw new Error('USB: no answer to a request');
  }

  *request(type, request, value, index, length, data = []) {
    yield;
    need(this.registers.get(ADDRESS) === this.address, 'no answer at its address');
    this.rp2040.usbDPRAM.set([type, request, value & 255, value >> 8, index & 255, index >> 8, length & 255, length >> 8]);
    this.registers.set(STALL, 0);
    this.registers.set(STATUS, this.registers.get(STATUS) | SETUP_SEEN);
    this.update();
    let got = [];
    if (type & 0x80) {
      for (let toggle = 1; ; toggle ^= 1) {
        const part = yield* this.until(() => this.fetch(0, toggle));
        if (part === null) return null;
        need(part !== 'lost', 'an answer with the wrong toggle');
        got = got.concat(part);
        need(got.length <= length, 'an answer that is longer than was asked');
        if (part.length < PACKET || got.length === length) break;
      }
      need((yield* this.until(() => this.send(0, 1, []))).length === 0, 'the answer cannot be confirmed');
    } else {
      if (length && (yield* this.until(() => this.send(0, 1, data))) === null) return null;
      const confirmed = yield* this.until(() => this.fetch(0, 1));
      if (confirmed === null) return null;
      need(confirmed.length === 0, 'a confirmation that is not empty');
    }
    return got;
  }

  *reset() {
    this.framing = false;
    this.registers.set(STATUS, this.registers.get(STATUS) | RESET_SEEN);
    this.update();
    this.address = 0;
    yield* this.pause(10);
    this.framing = true;
    yield* this.pause(1);
  }

  *string(number) {
    const got = yield* this.request(0x80, 6, 0x300 | number, 0x409, 255);
    need(got[0] === got.length && got[1] === 3, 'not a string');
    return Buffer.from(got.slice(2)).toString('utf16le');
  }

  // As Linux does it, cdc_acm and a program that opens the port.
  *host() {
    while (!this.pulledUp) yield;
    yield* this.pause(2);
    yield* this.reset();
    const first = yield* this.request(0x80, 6, 0x100, 0, 64);
    need(first.length === 18 && first[7] === PACKET, 'not a device');
    yield* this.reset();
    yield* this.request(0x00, 5, HOST_ADDRESS, 0, 0);
    yield* this.pause(2);
    this.address = HOST_ADDRESS;
    const device = yield* this.request(0x80, 6, 0x100, 0, 18);
    need((yield* this.request(0x80, 6, 0x600, 0, 10)) === null, 'a full-speed device has no qualifier');
    const head = yield* this.request(0x80, 6, 0x200, 0, 9);
    const all = yield* this.request(0x80, 6, 0x200, 0, head[2] | (head[3] << 8));
    const { notices, into, from } = acm(all);
    yield* this.request(0x80, 6, 0x300, 0, 255);
    const product = yield* this.string(device[15]), maker = yield* this.string(device[14]);
    const serial = yield* this.string(device[16]);
    need((yield* this.request(0x00, 9, all[5], 0, 0))?.length === 0, 'refuses its configuration');
    need(String(yield* this.request(0x80, 0, 0, 0, 2)) === '0,0', 'no status');
    let inToggle = 0, outToggle = 0;
    need((yield* this.request(0x21, 0x20, 0, 0, 7, CODING))?.length === 0, 'refuses the line coding');
    need(String(yield* this.request(0xa1, 0x21, 0, 0, 7)) === String(CODING), 'another line coding');
    need((yield* this.request(0x21, 0x22, 3, 0, 0))?.length === 0, 'refuses DTR and RTS');
    need((yield* this.request(0x21, 0x23, 0, 0, 0)) === null, 'it promised no break');
    const ids = [device[8] | (device[9] << 8), device[10] | (device[11] << 8)];
    this.told = { maker, product, serial, ids };
    for (this.ready = true; ; ) {
      yield;
      need(this.fetch(notices, 0) === undefined, 'a notice');
      const packet = this.queue.slice(0, PACKET);
      if (packet.length && this.send(from, outToggle, packet) !== undefined) {
        this.queue.splice(0, packet.length);
        outToggle ^= 1;
      }
      const got = this.reads ? this.fetch(into, inToggle) : undefined;
      if (got === undefined || got === 'lost') continue; // a packet sent twice: its twin was acknowledged
      inToggle ^= 1;
      got.forEach(this.hear);
    }
  }
}

// What cdc_acm looks for: two interfaces joined by a union, an interrupt endpoint, and both ways of bulk.
function acm(all) {
  const found = {}, joined = [];
  let kind = null, at = 0;
  for (; at < all.length; at += all[at]) {
    const one = all.slice(at, at + all[at]);
    need(one.length >= 3 && one.length === one[0], 'a broken descriptor');
    if (one[1] === 4) kind = one[5];
    if (one[1] === 4 && kind === 2) need(one[6] === 2, 'not of ACM');
    if (one[1] === 0x24 && one[2] === 6) joined.push(one[3], one[4]);
    if (one[1] === 5) found[`${kind} ${one[3]} ${one[2] >> 7}`] = one[2] & 15;
    if (one[1] === 5 && one[3] === 2) need((one[4] | (one[5] << 8)) === PACKET, 'bulk packets of another size');
  }
  need(at === all.length && all.length === (all[2] | (all[3] << 8)), 'the descriptors have another length');
  need(String(joined) === '0,1', 'no union');
  const [notices, into, from] = [found['2 3 1'], found['10 2 1'], found['10 2 0']];
  need(notices && into && from, 'an endpoint is missing');
  return { notices, into, from };
}
