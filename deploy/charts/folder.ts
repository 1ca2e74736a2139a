/** The folder of the charts. */
export const CHARTS = import.meta.dirname;
