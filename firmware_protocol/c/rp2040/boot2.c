/* The first 256 bytes of the flash. release/uf2.py puts a CRC at their end. The chip's ROM copies these bytes to RAM
   and runs them there. They set up the controller with which the processor reads the flash (command 03h, which every
   flash chip knows), and then start the program behind them. Only the address of the program is fixed. */
#include "rp2040.h"

void boot2(void);

__attribute__((section(".boot2"), used, noreturn)) void boot2(void)
{
    REGISTER(XIP_SSI + 0x08u) = 0; /* off while the next registers are set */
    REGISTER(XIP_SSI + 0x14u) = 4u; /* clock divider */
    REGISTER(XIP_SSI + 0x00u) = 0x001f0300u; /* standard SPI, words of 32 bits, address and then data */
    REGISTER(XIP_SSI + 0x04u) = 0; /* one word for each read */
    REGISTER(XIP_SSI + 0xf4u) = 0x03000218u; /* command 03h of 8 bits, address of 24 bits */
    REGISTER(XIP_SSI + 0x08u) = 1u;
    REGISTER(SCB_VTOR) = 0x10000100u;
    __asm volatile("ldr r0, =0x10000100\n ldmia r0, {r0, r1}\n msr msp, r0\n bx r1\n .pool");
    __builtin_unreachable();
}
