/* The registers of the STM32F205 that the port uses. Source: reference manual RM0033. */
#ifndef STM32F205_H
#define STM32F205_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define TIM2_CR1 0x40000000u
#define TIM2_DIER 0x4000000cu
#define TIM2_SR 0x40000010u
#define TIM2_EGR 0x40000014u
#define TIM2_CNT 0x40000024u
#define TIM2_PSC 0x40000028u
#define TIM2_ARR 0x4000002cu
#define TIM_UPDATE 1u
#define IWDG_KR 0x40003000u
#define IWDG_PR 0x40003004u
#define IWDG_RLR 0x40003008u
#define USART1_SR 0x40011000u
#define USART1_DR 0x40011004u
#define USART1_BRR 0x40011008u
#define USART1_CR1 0x4001100cu
#define USART_ORE (1u << 3) /* a byte came before the last one was read */
#define USART_RXNE (1u << 5) /* in CR1 this bit enables the interrupt; the same is true of TXE */
#define USART_TXE (1u << 7)
#define USART_ON 0x200cu
#define SYSCFG_EXTICR(word) REGISTER(0x40013808u + 4u * (word))
#define EXTI_IMR 0x40013c00u
#define EXTI_RTSR 0x40013c08u
#define EXTI_FTSR 0x40013c0cu
#define EXTI_PR 0x40013c14u
#define GPIOA_MODER 0x40020000u
#define GPIOA_AFRH 0x40020024u
#define GPIOC_PUPDR 0x4002080cu
#define GPIOC_IDR 0x40020810u
#define RCC_CR 0x40023800u
#define RCC_PLLCFGR 0x40023804u
#define RCC_CFGR 0x40023808u
#define RCC_AHB1ENR 0x40023830u
#define RCC_AHB2ENR 0x40023834u
#define RCC_APB1ENR 0x40023840u
#define RCC_APB2ENR 0x40023844u
#define FLASH_ACR 0x40023c00u
#define RNG_CR 0x50060800u
#define RNG_SR 0x50060804u
#define RNG_DR 0x50060808u
#define SYST_CSR 0xe000e010u
#define SYST_RVR 0xe000e014u
#define NVIC_ISER(word) REGISTER(0xe000e100u + 4u * (word))
#define NVIC_IPR(interrupt) (*(volatile uint8_t *)(0xe000e400u + (interrupt)))

#define IRQ_EXTI0 6u
#define IRQ_EXTI1 7u
#define IRQ_EXTI2 8u
#define IRQ_EXTI3 9u
#define IRQ_EXTI4 10u
#define IRQ_EXTI9_5 23u
#define IRQ_TIM2 28u
#define IRQ_USART1 37u
#define IRQ_EXTI15_10 40u
#define IRQS 81u

#endif
