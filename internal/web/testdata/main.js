import './hub/stream.js';
