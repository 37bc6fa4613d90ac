/** The price of a certification in US dollars, paid once. */
export const PRICE_USD = 39;
/** Runs of each task. */
export const REPEATS = 5;
/** The least composite score that is certified, 0 to 100. */
export const PASS_SCORE = 70;
/** The least share of runs that has to pass in each domain. */
export const PASS_RATE = 0.5;
/** How long a certification is in force. */
export const VALID_DAYS = 90;
/** How often a run that failed by our fault is repeated at once; after that it gets one more a day. */
export const MOST_AGAIN = 3;
/** How many days runs that failed by our fault are repeated before the certification ends without a verdict. */
export const GIVE_UP_DAYS = 14;
