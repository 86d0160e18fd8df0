import './stream.js';
