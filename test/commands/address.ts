/** Whether requests can be sent to this, as to the address of a service. */
export const isAddress = (given: string): boolean => URL.canParse(given) && /^https?:$/.test(new URL(given).protocol);
