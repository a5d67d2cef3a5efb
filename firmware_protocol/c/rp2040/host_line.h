/* The line to the host: uart.c or usb.c, which also have port_receive and port_transmit. */
#ifndef HOST_LINE_H
#define HOST_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* When the clocks run. */
void start_host_line(void);

/* Does what has come; true: nothing has, and an interrupt wakes the processor when something does. */
bool host_line_rests(void);

/* The interrupt of either. It only wakes the processor. */
void on_host_line(void);

/* What main.c does for them */

void start_blocks(uint32_t blocks);

/* 12 MHz times the factor, divided by both. */
void start_pll(uint32_t pll, uint32_t factor, uint32_t divider_1, uint32_t divider_2);

/* With the lowest priority: the interrupt of the pins does not wait for it. */
void start_line_interrupt(uint32_t number);

#endif
