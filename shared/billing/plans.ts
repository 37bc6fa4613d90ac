export { monthEnd, monthOf, type Plan, planLimit, PLANS } from "../plans/plans.ts";
