/* The line to the host through UART0, at 115200 baud on GP0 and GP1. */
#include "host_line.h"
#include "port.h"
#include "rp2040.h"

void start_host_line(void)
{
    start_blocks(RESET_UART0);
    IO_CTRL(0u) = IO_FUNCTION_UART;
    IO_CTRL(1u) = IO_FUNCTION_UART;
    REGISTER(UART_IBRD) = 67u; /* 125 MHz / 16 / 115200 = 67.82 */
    REGISTER(UART_FBRD) = 52u;
    REGISTER(UART_LCR_H) = 0x70u; /* 8 bits, FIFO */
    REGISTER(UART_CR) = 0x301u;
    start_line_interrupt(IRQ_UART0);
}

bool host_line_rests(void)
{
    REGISTER(UART_IMSC) = UART_RECEIVED_OR_TIMEOUT;
    return true;
}

void on_host_line(void)
{
    REGISTER(UART_IMSC) = 0; /* no more interrupts until host_line_rests: first the board takes the bytes */
}

bool port_receive(uint8_t *byte, uint64_t *at_us)
{
    if ((REGISTER(UART_FR) & UART_RX_EMPTY) != 0u) {
        return false;
    }
    const uint32_t data = REGISTER(UART_DR);
    *byte = (uint8_t)data; /* a byte with an error of the line is taken, too: the CRC finds the error */
    *at_us = port_now_us();
    return true;
}

bool port_transmit(uint8_t byte)
{
    if ((REGISTER(UART_FR) & UART_TX_FULL) != 0u) {
        return false;
    }
    REGISTER(UART_DR) = byte;
    return true;
}
