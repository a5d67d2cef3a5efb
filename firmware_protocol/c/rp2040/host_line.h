/* The line to the host: uart.c or usb.c, which also have port_receive and port_transmit. */
#ifndef HOST_LINE_H
#define HOST_LINE_H

#include <stdbool.h>
#include <stdint.h>

/* Call this after the clocks were started. */
void start_host_line(void);

/* Processes what has come. Returns true if nothing has come. Then an interrupt wakes the processor at the next thing
   that comes. */
bool host_line_rests(void);

/* The interrupt of the UART or of USB. It only wakes the processor. */
void on_host_line(void);

/* Functions of main.c for both files */

void start_blocks(uint32_t blocks);

/* The PLL gives 12 MHz times the factor, divided by both dividers. */
void start_pll(uint32_t pll, uint32_t factor, uint32_t divider_1, uint32_t divider_2);

/* The interrupt gets the lowest priority, so that the interrupt of the pins does not wait for it. */
void start_line_interrupt(uint32_t number);

#endif
