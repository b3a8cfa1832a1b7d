"use strict";

// Canvases get at least two dots for each pixel of the page: printed with one, their text is blurred.
window.devicePixelRatio = Math.max(2, window.devicePixelRatio);
