/** Imported before Ink, which looks at these when it is loaded: in CI it draws nothing. Log lines show local time. */
delete process.env.CI;
delete process.env.CONTINUOUS_INTEGRATION;
process.env.TZ = 'UTC';

export {};
