/* The sizes for a chip with little memory. The compiler reads this file first: -include memory.h. */
#ifndef MEMORY_H
#define MEMORY_H

/* With the fastest rotor, 90 turns a minute with 148 ticks each, the ring lasts for 1.5 s. */
#define BOARD_RING_EVENTS 336u
#define BOARD_TOP_RATE 224u
#define BOARD_UNNUMBERED_EVENTS 56u
#define SENSORS_BEAMS 4
#define SENSORS_READERS 3
#define RECEIVER_BYTES 32u

#endif
