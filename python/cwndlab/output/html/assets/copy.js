// Buttons that copy the command beside them.

const COPIED_MS = 1500;

async function copyText(code) {
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    // Pages from a file may not reach the clipboard: the selected text can still be copied by hand.
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
