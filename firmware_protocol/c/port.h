/* What the board needs from its hardware: ten functions, which a port writes. None of them waits, but port_idle.

   Board time is in microseconds since the boot. It has 64 bits, and never goes backwards: where the timer has fewer
   bits, the port carries its overflow on. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "sensors.h"

uint64_t port_now_us(void);

/* Takes the oldest edge that is dated at `until_us` or before, in the order of their dates; false: there is none.
   An interrupt dates an edge and puts it into a list; this function takes it out. */
bool port_take_edge(uint64_t until_us, struct edge *edge);

/* How a line stands at the start: true while it is active, whatever voltage that is. No edge before it is taken. */
bool port_line_is_on(uint8_t line, uint8_t index);

/* Takes the oldest byte of the host, with the time at which it was read from the line. */
bool port_receive(uint8_t *byte, uint64_t *at_us);

/* Hands a byte to the transmitter; false: it has no room, and the board tries again. It may hold some milliseconds of
   bytes, no more: a time reply is dated when its first byte comes here. */
bool port_transmit(uint8_t byte);

/* Another number than that of the last boot: a counter in memory that survives, or random bits. */
uint32_t port_new_boot_id(void);

/* How many edges were missed since the boot: the list was full, or two of one line of the encoder came before the
   interrupt. Two of another line are put into the list, both with the date of the interrupt, if the
   hardware shows them. The count may wrap. */
uint32_t port_missed_edges(void);

/* Begins a test of what can be tested without a ball: the lamps of the beams off and on, a supply measured. */
void port_begin_self_test(void);

/* SELF_TEST_US later: whether the test found this sensor good. True where nothing can be tested. */
bool port_sensor_works(uint8_t sensor, uint16_t index);

/* Called when there is nothing to do: feeds the watchdog, and may sleep until the next interrupt. */
void port_idle(void);

#endif
