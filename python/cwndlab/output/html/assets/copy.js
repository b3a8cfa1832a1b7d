// Buttons that copy the command next to them.

const COPIED_MS = 1500;

async function copyText(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // A page opened from a file may not have access to the clipboard. The user can still copy the selected text.
    getSelection().selectAllChildren(code);
    return document.execCommand("copy");
  }
  return true;
}

function makeCopying(button) {
  const code = button.parentElement.querySelector("code");
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.textContent = (await copyText(code)) ? "Copied" : "Selected";
    setTimeout(() => (button.textContent = label), COPIED_MS);
  });
}
