/* What the ports for an ARM Cortex-M have in common. The main.c of a port includes this file after its board_config.h.

   The port defines how a pin is read (`is_high`) and what time it is. Its interrupts date the edges of all lines and
   put them into a list. */
#ifndef CORTEX_M_H
#define CORTEX_M_H

#include "board.h"
#include "port.h"

/* Exception 1 is the reset, 15 is the SysTick, and 16 is the first interrupt. */
#define HANDLER(exception) [(exception) - 1u]
#define INTERRUPT(number) HANDLER(16u + (number))
#define EDGES 256u /* the length of the list, which must be a power of two */

struct pin {
    uint8_t line;
    uint8_t index;
    uint8_t pin;
    bool on_while_low;
};

static const struct pin pins[] = CONFIG_PINS;
#define USED (sizeof pins / sizeof pins[0])

static const struct identity identity = {.serial = CONFIG_SERIAL,
                                         .firmware = CONFIG_FIRMWARE,
                                         .config_hash = CONFIG_HASH,
                                         .ring_events = BOARD_RING_EVENTS,
                                         .top_rate = BOARD_TOP_RATE,
                                         .layout = CONFIG_LAYOUT};

/* The interrupt writes edges_in, and the board writes edges_out. Each has only one writer, so none needs a lock. */
static struct edge edges[EDGES];
static volatile uint32_t edges_in;
static volatile uint32_t edges_out;
static volatile uint32_t missed;

extern uint32_t image_data_from[], image_data[], image_data_end[], image_bss[], image_bss_end[], image_stack[];

static bool is_high(const struct pin *pin);

/* The compiler calls these two functions to copy and to clear structures. */
void *memcpy(void *to, const void *from, unsigned size);
void *memset(void *to, int value, unsigned size);
void *memcpy(void *to, const void *from, unsigned size)
{
    uint8_t *into = to;
    for (const uint8_t *at = from; size > 0u; size--) {
        *into++ = *at++;
    }
    return to;
}
void *memset(void *to, int value, unsigned size)
{
    for (uint8_t *into = to; size > 0u; size--) {
        *into++ = (uint8_t)value;
    }
    return to;
}

static void start_memory(void)
{
    const uint32_t *from = image_data_from;
    for (uint32_t *to = image_data; to < image_data_end; to++) {
        *to = *from;
        from++;
    }
    for (uint32_t *to = image_bss; to < image_bss_end; to++) {
        *to = 0;
    }
}

static void put_edge(const struct pin *pin, bool high, uint64_t at_us)
{
    if (edges_in - edges_out == EDGES) {
        missed++;
        return;
    }
    edges[edges_in % EDGES] =
        (struct edge){.at_us = at_us, .line = pin->line, .index = pin->index, .on = high != pin->on_while_low};
    edges_in++;
}

/* The pin has changed and changed back before the interrupt. */
static void put_both(const struct pin *pin, bool high, uint64_t at_us)
{
    if (pin->line >= (uint8_t)LINE_ROTOR_A) {
        missed++;
    } else {
        put_edge(pin, !high, at_us);
        put_edge(pin, high, at_us);
    }
}

bool port_take_edge(uint64_t until_us, struct edge *edge)
{
    if ((edges_out == edges_in) || (edges[edges_out % EDGES].at_us > until_us)) {
        return false;
    }
    *edge = edges[edges_out % EDGES];
    edges_out++;
    return true;
}

bool port_line_is_on(uint8_t line, uint8_t index)
{
    for (const struct pin *pin = pins; pin < pins + USED; pin++) {
        if ((pin->line == line) && (pin->index == index)) {
            return is_high(pin) != pin->on_while_low;
        }
    }
    return false;
}

uint32_t port_missed_edges(void)
{
    return missed;
}

/* The sensors of these boards are passive, so nothing can be tested. */
void port_begin_self_test(void) {}

bool port_sensor_works(uint8_t sensor, uint16_t index)
{
    (void)sensor;
    (void)index;
    return true;
}

#endif
