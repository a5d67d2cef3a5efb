/* The board behind the wire: ring, replay, heartbeat, requests. ../README.md says what it promises.

   One board in a program: its state is static. A port calls `board_start` once, and then `board_run` for ever. */
#ifndef BOARD_H
#define BOARD_H

#include "codec.h"

/* Eight bytes each: 768 last for 1.5 s. */
#ifndef BOARD_RING_EVENTS
#define BOARD_RING_EVENTS 768u
#endif
/* Events a second that a port dates and keeps. */
#ifndef BOARD_TOP_RATE
#define BOARD_TOP_RATE 512u
#endif
/* Events that wait for their number beside those: of a quarter of a second, as long as a pulse can hold them up. */
#ifndef BOARD_UNNUMBERED_EVENTS
#define BOARD_UNNUMBERED_EVENTS 128u
#endif

#define SELF_TEST_US 20000u

/* `identity` stays where it is: the board keeps no copy. Its `ring_events` and `top_rate` are those above. `zero_tick`:
   the sector in which the rotor stands when its mark comes by. */
void board_start(const struct identity *identity, uint16_t zero_tick);

/* Takes edges and bytes that have come, and sends as much as the transmitter takes. */
void board_run(void);

/* For sensors.c: puts an event into the ring, in the order of dates. None may be dated before the last settled time. */
void board_event(const struct event *event);

#endif
