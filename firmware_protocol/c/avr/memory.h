/* The sizes for parts with little memory. The compiler reads this first: -include memory.h. */
#ifndef MEMORY_H
#define MEMORY_H

/* At the fastest rotor, 90 turns a minute of 148 ticks, the ring lasts for 1.5 s. */
#define BOARD_RING_EVENTS 336u
#define BOARD_TOP_RATE 224u
#define BOARD_UNNUMBERED_EVENTS 56u
#define SENSORS_BEAMS 4
#define SENSORS_READERS 3
#define RECEIVER_BYTES 32u

#endif
