// Loaded before the program: from here on it believes to be on a Mac.
Object.defineProperty(process, 'platform', { value: 'darwin' });
