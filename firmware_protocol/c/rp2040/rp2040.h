/* The registers of the RP2040 that the port uses: datasheet of the RP2040, build 2024-10. */
#ifndef RP2040_H
#define RP2040_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SET(address) REGISTER((address) + 0x2000u) /* writing here sets bits, or clears them */
#define CLEAR(address) REGISTER((address) + 0x3000u)

#define XIP_SSI 0x18000000u
#define CLOCK_REF_CTRL 0x40008030u
#define CLOCK_REF_SELECTED 0x40008038u
#define CLOCK_SYS_CTRL 0x4000803cu
#define CLOCK_SYS_SELECTED 0x40008044u
#define CLOCK_PERI_CTRL 0x40008048u
#define RESETS 0x4000c000u
#define RESETS_DONE 0x4000c008u
#define RESET_IO_BANK0 (1u << 5)
#define RESET_PADS_BANK0 (1u << 8)
#define RESET_PLL_SYS (1u << 12)
#define RESET_TIMER (1u << 21)
#define RESET_UART0 (1u << 22)
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
#define PLL_CS 0x40028000u
#define PLL_PWR 0x40028004u
#define PLL_FBDIV 0x40028008u
#define PLL_PRIM 0x4002800cu
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
#define SIO_GPIO_IN 0xd0000004u
#define NVIC_ISER 0xe000e100u
#define NVIC_IPR(word) REGISTER(0xe000e400u + 4u * (word))
#define SCB_VTOR 0xe000ed08u

#define IRQ_TIMER0 0u
#define IRQ_IO_BANK0 13u
#define IRQ_UART0 20u

#endif
