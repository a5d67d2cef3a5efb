/* What the board needs from its hardware: ten functions, which each port has. Only port_idle may wait.

   Board time is in microseconds since the boot. It has 64 bits and never goes backwards. If the timer has fewer bits,
   the port counts its overflows. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "sensors.h"

uint64_t port_now_us(void);

/* Takes the oldest edge with a date at or before `until_us`. Returns false if there is none. An interrupt dates an edge
   and puts it into a list; this function takes it out. */
bool port_take_edge(uint64_t until_us, struct edge *edge);

/* The level of a line: true while it is active, whether that is a high or a low voltage. Edges that came before this
   call are not used. */
bool port_line_is_on(uint8_t line, uint8_t index);

/* Takes the oldest byte from the host, with the time at which the port read it from the line. Returns false if there is
   none. */
bool port_receive(uint8_t *byte, uint64_t *at_us);

/* Gives a byte to the transmitter. Returns false if it has no room; then the board tries again. The transmitter may
   hold the bytes of a few milliseconds, but no more, because a time reply is dated when its first byte comes here. */
bool port_transmit(uint8_t byte);

/* A number that differs from that of the last boot: a counter in memory that survives a reset, or random bits. */
uint32_t port_new_boot_id(void);

/* How many edges were missed since the boot, because the list was full, or because two edges of one line of the encoder
   came before the interrupt. Two such edges of another line are put into the list, both with the date of the interrupt,
   if the hardware shows them. The count may wrap. */
uint32_t port_missed_edges(void);

/* Begins a test of what can be tested without a ball. For example, it switches the lamps of the beams off and on, and
   measures a supply voltage. */
void port_begin_self_test(void);

/* Whether the test found this sensor good. The board asks SELF_TEST_US later. True if nothing can be tested. */
bool port_sensor_works(uint8_t sensor, uint16_t index);

/* Feeds the watchdog, and may sleep until the next interrupt. The port calls it after each board_run. */
void port_idle(void);

#endif
