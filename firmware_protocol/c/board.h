/* What a board does on the wire: ring, replay, heartbeat, requests. ../README.md says what a board promises.

   A program has one board, so the state is static. A port calls `board_start` once, and then `board_run` for ever. */
#ifndef BOARD_H
#define BOARD_H

#include "codec.h"

/* Each event takes eight bytes. 768 events last for 1.5 s. */
#ifndef BOARD_RING_EVENTS
#define BOARD_RING_EVENTS 768u
#endif
/* How many events a second the port can date and keep. */
#ifndef BOARD_TOP_RATE
#define BOARD_TOP_RATE 512u
#endif
/* Room for more events, which wait for their numbers. A pulse can delay the numbers for a quarter of a second. */
#ifndef BOARD_UNNUMBERED_EVENTS
#define BOARD_UNNUMBERED_EVENTS 128u
#endif

#define SELF_TEST_US 20000u

/* The board keeps no copy of `identity`, so the caller must keep it. Its `ring_events` and `top_rate` must have the
   values above. `zero_tick`: the encoder sector in which the rotor is when its mark passes the sensor. */
void board_start(const struct identity *identity, uint16_t zero_tick);

/* Takes the edges and bytes that have come, and sends as many bytes as the transmitter takes. */
void board_run(void);

/* For sensors.c: puts an event into the ring, in the order of dates. The event may not have a date before the last
   settled time. */
void board_event(const struct event *event);

#endif
