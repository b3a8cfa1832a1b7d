"use strict";

// Canvases get at least two dots per pixel of the page. With one dot, printed text is blurred.
window.devicePixelRatio = Math.max(2, window.devicePixelRatio);
