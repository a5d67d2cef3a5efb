/* The port for the ATmega2560 at 16 MHz (an Arduino Mega): UART0 at 115200 baud, with the lines of board_config.h.

   Timer 1 counts half microseconds. An interrupt reads the timer first and then all pins of its group, and puts both
   into a list. The program finds out later which pins changed. It locks interrupts out for less than a microsecond at a
   time, but one interrupt waits for another: README.md says how long.

   Fuses: low 0xff (crystal), high 0xd7 (no boot loader; the EEPROM keeps its content when somebody writes the program),
   extended 0xfc (brown-out below 4.3 V). */
#include <avr/eeprom.h>
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <avr/wdt.h>
#include <util/atomic.h>

#include "board.h"
#include "board_config.h"
#include "port.h"

#define SNAPSHOTS 64u /* the length of the list; this and the next two must be powers of two */
#define RECEIVED 64u
#define SENDS 32u
#define OVERFLOW_US 32768 /* the time from one overflow of timer 1 to the next */
#define TICKS_PER_US 2u
#define BAUD_DIVISOR 16u /* 117647 baud, 2.1 % too fast */
#define WAKE_COUNT 249u  /* 2 ms: timer 2 counts once in 8 us */

#define CLEAR_ENCODER() (EIFR = CONFIG_ENCODER_MASK)

enum group { ENCODER, SENSORS, CONTACTS, GROUPS };

/* The members are bit fields, because there is little memory. */
struct pin {
    unsigned line : 3;
    unsigned index : 4;
    unsigned group : 2;
    unsigned bit : 3;
    unsigned on_while_low : 1;
};

static const struct pin pins[] = CONFIG_PINS;
#define USED (sizeof pins / sizeof pins[0])

static struct identity identity = {.serial = CONFIG_SERIAL,
                                   .firmware = CONFIG_FIRMWARE,
                                   .config_hash = CONFIG_HASH,
                                   .ring_events = BOARD_RING_EVENTS,
                                   .top_rate = BOARD_TOP_RATE,
                                   .layout = CONFIG_LAYOUT};

/* The EEPROM keeps this without power: a count of boots, and a serial number if somebody has written one. */
static EEMEM struct {
    uint32_t boots;
    char serial[WHEEL_TEXT_BYTES];
} kept;

/* A time of timer 1. The count of overflows may wrap: a second has 31, and the watchdog ends the program after one. */
struct stamp {
    uint16_t ticks;
    uint8_t overflows;
};

struct snapshot {
    struct stamp at;
    uint8_t group;
    uint8_t levels;
};

struct received {
    struct stamp at;
    uint8_t byte;
};

/* Interrupts write snapshots_in, received_in and sends_out. The board writes the other three. Each has one writer. */
static struct snapshot snapshots[SNAPSHOTS];
static volatile uint8_t snapshots_in;
static volatile uint8_t snapshots_out;
static struct received received[RECEIVED];
static volatile uint8_t received_in;
static volatile uint8_t received_out;
static volatile uint8_t sends[SENDS];
static volatile uint8_t sends_in;
static volatile uint8_t sends_out;
static volatile uint8_t overflows;
static volatile uint16_t missed; /* may wrap */
static uint8_t encoder_levels;   /* the levels at the latest interrupt */

/* Only the board uses these. */
static uint64_t epoch_us; /* the board time of overflow number `epoch` */
static uint8_t epoch;
static uint32_t missed_edges;
static uint8_t levels[GROUPS]; /* the levels after the latest snapshot */
static uint8_t used[GROUPS];   /* the bits that have a line */
static uint8_t changed;        /* the changed bits of the latest snapshot that the board has not taken yet */
static uint8_t taken_group;
static uint64_t taken_us;

/* The time. Call this only while interrupts are off. */
static inline __attribute__((always_inline)) struct stamp now(void)
{
    struct stamp at = {.ticks = TCNT1, .overflows = overflows};
    if (((TIFR1 & _BV(TOV1)) != 0u) && (at.ticks < 0x8000u)) {
        at.overflows++; /* the interrupt of the latest overflow has not run yet */
    }
    return at;
}

static inline __attribute__((always_inline)) void put_snapshot(struct stamp at, enum group group, uint8_t read)
{
    const uint8_t in = snapshots_in;
    if ((uint8_t)(in - snapshots_out) == SNAPSHOTS) {
        missed++;
        return;
    }
    snapshots[in % SNAPSHOTS] = (struct snapshot){.at = at, .group = (uint8_t)group, .levels = read};
    snapshots_in = (uint8_t)(in + 1u);
}

/* The flags are cleared before the levels are read. So the levels show all edges whose flags were cleared. */
static inline void on_encoder(void)
{
    const struct stamp at = now();
    CLEAR_ENCODER();
    const uint8_t read = CONFIG_ENCODER_IN & CONFIG_ENCODER_MASK;
    if (read == encoder_levels) {
        missed++; /* a pin has changed and changed back before the interrupt */
    } else {
        encoder_levels = read;
        put_snapshot(at, ENCODER, read);
    }
}

ISR(INT0_vect)
{
    on_encoder();
}
ISR(INT1_vect, ISR_ALIASOF(INT0_vect));
ISR(INT2_vect, ISR_ALIASOF(INT0_vect));

/* If a pin changes and changes back before the interrupt, nothing has changed then, and no pulse is seen. */
ISR(PCINT2_vect)
{
    const struct stamp at = now();
    put_snapshot(at, SENSORS, CONFIG_SENSORS_IN & CONFIG_SENSORS_MASK);
}

ISR(PCINT0_vect)
{
    const struct stamp at = now();
    put_snapshot(at, CONTACTS, CONFIG_CONTACTS_IN & CONFIG_CONTACTS_MASK);
}

ISR(TIMER1_OVF_vect)
{
    overflows++;
}

EMPTY_INTERRUPT(TIMER2_COMPA_vect) /* this interrupt only wakes the processor */

ISR(USART0_RX_vect)
{
    const uint8_t byte = UDR0; /* a byte with an error of the line is taken, too: the CRC finds the error */
    const uint8_t in = received_in;
    if ((uint8_t)(in - received_out) < RECEIVED) {
        received[in % RECEIVED] = (struct received){.at = now(), .byte = byte};
        received_in = (uint8_t)(in + 1u);
    }
}

ISR(USART0_UDRE_vect)
{
    const uint8_t out = sends_out;
    if (out == sends_in) {
        UCSR0B &= (uint8_t)~_BV(UDRIE0);
    } else {
        UDR0 = sends[out % SENDS];
        sends_out = (uint8_t)(out + 1u);
    }
}

static uint64_t us_of(struct stamp at)
{
    const int8_t ahead = (int8_t)(uint8_t)(at.overflows - epoch);
    return epoch_us + (uint64_t)(int64_t)((int32_t)ahead * OVERFLOW_US) + at.ticks / TICKS_PER_US;
}

uint64_t port_now_us(void)
{
    struct stamp at;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        at = now();
    }
    epoch_us += (uint32_t)(uint8_t)(at.overflows - epoch) * (uint32_t)OVERFLOW_US;
    epoch = at.overflows;
    return us_of(at);
}

static const struct pin *pin_at(uint8_t group, uint8_t bit)
{
    const struct pin *pin = pins;
    while ((pin->group != group) || (pin->bit != bit)) {
        pin++;
    }
    return pin;
}

bool port_take_edge(uint64_t until_us, struct edge *edge)
{
    while (changed == 0u) {
        if (snapshots_out == snapshots_in) {
            return false;
        }
        const struct snapshot next = snapshots[snapshots_out % SNAPSHOTS];
        taken_us = us_of(next.at);
        if (taken_us > until_us) {
            return false;
        }
        snapshots_out++;
        taken_group = next.group;
        changed = (uint8_t)((next.levels ^ levels[next.group]) & used[next.group]);
        levels[next.group] = next.levels;
    }
    uint8_t bit = 0;
    while ((changed & _BV(bit)) == 0u) {
        bit++;
    }
    changed &= (uint8_t)~_BV(bit);
    const struct pin *const pin = pin_at(taken_group, bit);
    const bool high = (levels[taken_group] & _BV(bit)) != 0u;
    *edge = (struct edge){
        .at_us = taken_us, .line = pin->line, .index = pin->index, .on = high != (pin->on_while_low != 0u)};
    return true;
}

static uint8_t read_group(uint8_t group)
{
    return (uint8_t)((group == (uint8_t)ENCODER)   ? CONFIG_ENCODER_IN & CONFIG_ENCODER_MASK
                     : (group == (uint8_t)SENSORS) ? CONFIG_SENSORS_IN & CONFIG_SENSORS_MASK
                                                   : CONFIG_CONTACTS_IN & CONFIG_CONTACTS_MASK);
}

bool port_line_is_on(uint8_t line, uint8_t index)
{
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        if ((pin->line == line) && (pin->index == index)) {
            const bool high = (read_group(pin->group) & _BV(pin->bit)) != 0u;
            return high != (pin->on_while_low != 0u);
        }
    }
    return false;
}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if (received_out == received_in) {
        return false;
    }
    const struct received next = received[received_out % RECEIVED];
    received_out++;
    *byte = next.byte;
    *at_us = us_of(next.at);
    return true;
}

bool port_transmit(uint8_t byte)
{
    if ((uint8_t)(sends_in - sends_out) == SENDS) {
        return false;
    }
    sends[sends_in % SENDS] = byte;
    sends_in++;
    UCSR0B |= _BV(UDRIE0);
    return true;
}

/* The number is used only after it was written. A power cut during the writing also leads to another number. */
uint32_t port_new_boot_id(void)
{
    const uint32_t boots = eeprom_read_dword(&kept.boots) + 1u;
    eeprom_write_dword(&kept.boots, boots);
    eeprom_busy_wait();
    return boots;
}

uint32_t port_missed_edges(void)
{
    uint16_t wrapped;
    ATOMIC_BLOCK(ATOMIC_RESTORESTATE)
    {
        wrapped = missed;
    }
    missed_edges += (uint16_t)(wrapped - (uint16_t)missed_edges);
    return missed_edges;
}

/* The sensors of this board are passive, so nothing can be tested. */
void port_begin_self_test(void) {}

bool port_sensor_works(uint8_t sensor, uint16_t index)
{
    (void)sensor;
    (void)index;
    return true;
}

void port_idle(void)
{
    wdt_reset();
    if (snapshots_out == snapshots_in) {
        sleep_cpu(); /* an edge that came just before this has its date, and waits at most for 2 ms */
    }
}

/* After a reset by the watchdog, the watchdog goes on with its shortest time. So this runs first. */
void start_watchdog(void) __attribute__((naked, used, section(".init3")));
void start_watchdog(void)
{
    MCUSR = 0;
    wdt_enable(WDTO_1S);
}

static void read_serial(void)
{
    char serial[WHEEL_TEXT_BYTES];
    bool over = false;
    eeprom_read_block(serial, kept.serial, sizeof serial);
    for (uint8_t at = 0; at < WHEEL_TEXT_BYTES; at++) {
        over = over || ((at > 0u) && (serial[at] == '\0'));
        if (over ? (serial[at] != '\0') : ((serial[at] < ' ') || (serial[at] > '~'))) {
            return;
        }
    }
    for (uint8_t at = 0; at < WHEEL_TEXT_BYTES; at++) {
        identity.serial[at] = serial[at];
    }
}

static void start_hardware(void)
{
    CONFIG_ENCODER_PULL_UP |= CONFIG_ENCODER_MASK;
    CONFIG_SENSORS_PULL_UP |= CONFIG_SENSORS_MASK;
    CONFIG_CONTACTS_PULL_UP |= CONFIG_CONTACTS_MASK;
    UBRR0 = BAUD_DIVISOR;
    UCSR0A = _BV(U2X0);
    UCSR0C = _BV(UCSZ01) | _BV(UCSZ00);
    UCSR0B = _BV(RXEN0) | _BV(TXEN0) | _BV(RXCIE0);
    TCCR1B = _BV(CS11);
    TIMSK1 = _BV(TOIE1);
    OCR2A = WAKE_COUNT;
    TCCR2A = _BV(WGM21);
    TCCR2B = _BV(CS22) | _BV(CS20);
    TIMSK2 = _BV(OCIE2A);
    PCMSK2 = CONFIG_SENSORS_MASK;
    PCMSK0 = CONFIG_CONTACTS_MASK;
    EICRA = _BV(ISC00) | _BV(ISC10) | _BV(ISC20); /* an interrupt at each edge */
    EIMSK = CONFIG_ENCODER_MASK;
    PCICR = _BV(PCIE2) | _BV(PCIE0);
    SMCR = _BV(SE); /* in this sleep mode the timers go on */
    CLEAR_ENCODER();
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        used[pin->group] = (uint8_t)(used[pin->group] | _BV(pin->bit));
    }
    for (uint8_t group = 0; group < (uint8_t)GROUPS; group++) {
        levels[group] = read_group(group);
    }
    encoder_levels = levels[ENCODER];
    sei();
}

int main(void)
{
    read_serial();
    start_hardware();
    board_start(&identity, CONFIG_ZERO_TICK);
    for (;;) {
        board_run();
        port_idle();
    }
}
