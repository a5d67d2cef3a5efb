/* The registers of the RP2040 that the port uses. Source: datasheet of the RP2040, build 2024-10. */
#ifndef RP2040_H
#define RP2040_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SET(address) REGISTER((address) + 0x2000u) /* a write here sets bits; a write to CLEAR clears them */
#define CLEAR(address) REGISTER((address) + 0x3000u)

#define XIP_SSI 0x18000000u
#define CLOCK_REF_CTRL 0x40008030u
#define CLOCK_REF_SELECTED 0x40008038u
#define CLOCK_SYS_CTRL 0x4000803cu
#define CLOCK_SYS_SELECTED 0x40008044u
#define CLOCK_PERI_CTRL 0x40008048u
#define CLOCK_USB_CTRL 0x40008054u
#define CLOCK_ENABLE (1u << 11)
#define RESETS 0x4000c000u
#define RESETS_DONE 0x4000c008u
#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_SYS (1u << 12)
#define RESET_PLL_USB (1u << 13)
#define RESET_TIMER (1u << 21)
#define RESET_UART0 (1u << 22)
#define RESET_USB (1u << 24)
#define PSM_WDSEL 0x40010008u
#define IO_CTRL(pin) REGISTER(0x40014004u + 8u * (pin))
#define IO_INTR(word) REGISTER(0x400140f0u + 4u * (word))
#define IO_INTE(word) REGISTER(0x40014100u + 4u * (word))
#define IO_INTS(word) REGISTER(0x40014120u + 4u * (word))
#define IO_FUNCTION_UART 2u
#define IO_FUNCTION_SIO 5u
#define IO_EDGE_LOW 4u
#define IO_EDGE_HIGH 8u
#define PAD(pin) REGISTER(0x4001c004u + 4u * (pin))
#define PAD_INPUT_PULL_UP_SCHMITT 0x4au
#define XOSC_CTRL 0x40024000u
#define XOSC_STATUS 0x40024004u
#define XOSC_STARTUP 0x4002400cu
#define PLL_SYS 0x40028000u
#define PLL_USB 0x4002c000u
#define PLL_CS 0x00u /* these four: offsets in both PLLs */
#define PLL_PWR 0x04u
#define PLL_FBDIV 0x08u
#define PLL_PRIM 0x0cu
#define UART_DR 0x40034000u
#define UART_FR 0x40034018u
#define UART_IBRD 0x40034024u
#define UART_FBRD 0x40034028u
#define UART_LCR_H 0x4003402cu
#define UART_CR 0x40034030u
#define UART_IMSC 0x40034038u
#define UART_ICR 0x40034044u
#define UART_RX_EMPTY (1u << 4)
#define UART_TX_FULL (1u << 5)
#define UART_BREAK_PARITY_FRAMING 0x700u
#define UART_RECEIVED_OR_TIMEOUT 0x50u
#define TIMER_ALARM0 0x40054010u
#define TIMER_RAW_HIGH 0x40054024u
#define TIMER_RAW_LOW 0x40054028u
#define TIMER_INTR 0x40054034u
#define TIMER_INTE 0x40054038u
#define WATCHDOG_CTRL 0x40058000u
#define WATCHDOG_LOAD 0x40058004u
#define WATCHDOG_SCRATCH0 0x4005800cu
#define WATCHDOG_TICK 0x4005802cu
#define ROSC_RANDOM_BIT 0x4006001cu
#define USB_SETUP 0x50100000u /* the latest request, in the memory that the controller shares with the processor */
#define USB_ENDPOINT_IN(endpoint) (0x50100000u + 8u * (endpoint)) /* endpoint 0 has none */
#define USB_ENDPOINT_OUT(endpoint) (0x50100004u + 8u * (endpoint))
#define USB_ENDPOINT_ON 0xa0000000u /* also: an interrupt for each packet */
#define USB_BULK (2u << 26)
#define USB_INTERRUPT (3u << 26)
#define USB_BUFFER_IN(endpoint) (0x50100080u + 8u * (endpoint))
#define USB_BUFFER_OUT(endpoint) (0x50100084u + 8u * (endpoint))
#define USB_BUFFER_FULL (1u << 15)
#define USB_BUFFER_DATA1 (1u << 13)
#define USB_BUFFER_STALL (1u << 11)
#define USB_BUFFER_AVAILABLE (1u << 10)
#define USB_BUFFER_BYTES 0x3ffu
#define USB_DATA 0x50100000u
#define USB_DATA_0 0x100u /* the buffer of endpoint 0, for both ways; its place is fixed */
#define USB_ADDRESS 0x50110000u
#define USB_MAIN_CTRL 0x50110040u
#define USB_FRAME_NUMBER 0x50110048u /* a read clears the interrupt of a frame */
#define USB_SIE_CTRL 0x5011004cu
#define USB_SIE_INTERRUPT_0 (1u << 29) /* interrupts also for endpoint 0 */
#define USB_SIE_PULL_UP (1u << 16)
#define USB_SIE_STATUS 0x50110050u
#define USB_SIE_RESET (1u << 19)
#define USB_SIE_SETUP (1u << 17)
#define USB_DONE 0x50110058u /* a bit for each buffer: 0 in, 0 out, 1 in, ... */
#define USB_DONE_IN(endpoint) (1u << (2u * (endpoint)))
#define USB_DONE_OUT(endpoint) (2u << (2u * (endpoint)))
#define USB_STALL_0 0x50110068u
#define USB_MUXING 0x50110074u
#define USB_PWR 0x50110078u
#define USB_INTE 0x50110090u
#define USB_INTS 0x50110098u
#define USB_INT_FRAME (1u << 17)
#define USB_INT_SETUP (1u << 16)
#define USB_INT_RESET (1u << 12)
#define USB_INT_DONE (1u << 4)
#define SIO_GPIO_IN 0xd0000004u
#define NVIC_ISER 0xe000e100u
#define NVIC_IPR(word) REGISTER(0xe000e400u + 4u * (word))
#define SCB_VTOR 0xe000ed08u

#define IRQ_TIMER0 0u
#define IRQ_USB 5u
#define IRQ_IO_BANK0 13u
#define IRQ_UART0 20u

#endif
