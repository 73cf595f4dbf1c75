// Explorer of the API: every method of GET /api.json, its request as a form and as JSON, the call, the answer, and the line for
// curl.

import { call, session, stream } from "../api/session.js";
import { Api } from "./api/descriptors.js";
import { curlLine } from "./api/curl.js";
import { messageForm } from "./api/form.js";
import { button, el, pageHead, refill, setQuery, tag, useStyles } from "./parts/dom.js";
import { control, loadInto } from "./parts/forms.js";
import { refused } from "./parts/refused.js";
import { requestId } from "./parts/words.js";

/** Messages of a stream that are kept on the page. */
const KEPT = 50;

/**
 * Shows the explorer.
 *
 * @param {HTMLElement} main
 * @param {Record<string, string>} parameters `method`
 */
export function show(main, parameters) {
  useStyles("pages.css", "api.css");
  const body = el("div", {});
  main.append(
    el("div", { class: "page api-page" }, pageHead("API", ["Everything that these pages do, any program may do: this is the whole of the room's public interface. ", el("a", { href: "/api.json" }, "Descriptors"), ", ", el("a", { href: "/reasons.html" }, "reasons of refusals"), "."]), body),
  );
  const explorer = new Explorer(parameters.method ?? "");
  loadInto(body, async () => {
    const answer = await fetch("/api.json");
    if (!answer.ok) throw new Error(`The room answers ${answer.status} for its descriptors. Wait a moment, then try again.`);
    return explorer.draw(new Api(await answer.json()));
  });
  return () => explorer.stop();
}

class Explorer {
  /** @param {string} method */
  constructor(method) {
    this.wanted = method;
    this.list = el("nav", { class: "side methods", "aria-label": "Methods" });
    this.one = el("div", { class: "stack" });
    /** @type {AbortController | undefined} */
    this.running = undefined;
  }

  stop() {
    this.running?.abort();
  }

  /** @param {Api} api */
  draw(api) {
    this.api = api;
    const find = control({ name: "find", label: "Find a method", attributes: { oninput: (/** @type {any} */ event) => this.drawList(event.target.value) } });
    this.path = this.wanted || "sabacc.table.v1.TableService/ListTables";
    this.drawList("");
    this.choose(this.wanted || "sabacc.table.v1.TableService/ListTables");
    return el("div", { class: "with-side" }, el("div", { class: "side-box" }, find, this.list), this.one);
  }

  /** @param {string} words */
  drawList(words) {
    const found = (this.api?.services ?? [])
      .map((service) => ({ service, methods: service.methods.filter((one) => one.path.toLowerCase().includes(words.toLowerCase())) }))
      .filter(({ methods }) => methods.length > 0);
    refill(
      this.list,
      ...found.map(({ service, methods }) =>
        el(
          "details",
          { open: words !== "" || methods.some((one) => one.path === this.path) || found.length === 1 },
          el("summary", { title: service.name }, /** @type {string} */ (service.name.split(".").pop())),
          ...methods.map((one) =>
            el(
              "a",
              {
                href: `#/api?method=${one.path}`,
                "aria-current": one.path === this.path ? "true" : null,
                onclick: (/** @type {Event} */ event) => {
                  event.preventDefault();
                  this.choose(one.path);
                },
              },
              one.name,
            ),
          ),
        ),
      ),
      found.length === 0 ? el("p", { class: "muted" }, "No method has that in its name.") : null,
    );
  }

  /** @param {string} path */
  choose(path) {
    const api = /** @type {Api} */ (this.api);
    this.stop();
    const method = api.method(path);
    if (!method) return refill(this.one, el("p", { class: "notice warn" }, `The room has no method ${path}. Choose one from the list.`));
    this.path = path;
    setQuery({ method: path });
    for (const link of this.list.querySelectorAll("a")) {
      if (link.textContent === method.name && link.href.endsWith(path)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    this.drawMethod(method);
  }

  /** @param {import("./api/descriptors.js").Method} method */
  drawMethod(method) {
    const api = /** @type {Api} */ (this.api);
    const message = api.message(method.input);
    /** @type {any} */
    const request = message?.fields.some((field) => field.json === "requestId") ? { requestId: requestId() } : {};
    const text = el("textarea", { rows: 10, spellcheck: "false", id: "api-json", class: "mono", "aria-describedby": "api-json-wrong" });
    const wrong = el("p", { id: "api-json-wrong", class: "hint", role: "status" });
    const curl = el("pre", { tabindex: "0", "aria-label": "The line for curl" });
    const form = el("div", { class: "api-form" });
    const answer = el("div", { class: "stack" });
    let value = request;
    const write = () => {
      text.value = JSON.stringify(value, null, 2);
      refill(curl, curlLine(location.origin, method, value, session.roles.length > 0));
    };
    const drawForm = () => refill(form, messageForm(api, method.input, value, () => (refill(wrong), write())));
    text.addEventListener("input", () => {
      try {
        value = JSON.parse(text.value || "{}");
        refill(wrong);
        drawForm();
        refill(curl, curlLine(location.origin, method, value, session.roles.length > 0));
      } catch (/** @type {any} */ error) {
        refill(wrong, `Not JSON yet: ${error.message}`);
      }
    });
    write();
    drawForm();
    const fresh = "requestId" in request ? button("A new request id", () => ((value.requestId = requestId()), write(), drawForm()), { class: "small" }) : null;
    refill(
      this.one,
      el(
        "section",
        { class: "panel stack", "aria-labelledby": "api-name" },
        el("p", { class: "eyebrow" }, method.service),
        el("h2", { id: "api-name" }, method.name),
        el("p", { class: "row" }, method.serverStreaming ? tag("streams its answers", "accent") : tag("one answer"), method.clientStreaming ? tag("streams requests: not from a browser", "warn") : null, el("code", { class: "hex" }, `${method.input.slice(1)} \u2192 ${method.output.slice(1)}`)),
        el("div", { class: "two" }, el("div", { class: "stack" }, el("h3", {}, "Request"), form), el("div", { class: "stack" }, el("h3", {}, el("label", { for: "api-json" }, "The same as JSON")), text, wrong, fresh)),
        el("div", { class: "row" }, this.callButton(method, () => value, wrong, answer), session.roles.length > 0 ? tag(`as ${session.roles.join(", ")}`) : tag("without a token")),
      ),
      el("section", { class: "panel stack", "aria-label": "Answer" }, el("h3", {}, "Answer"), answer, el("details", {}, el("summary", {}, "Fields of the answer"), fieldsOf(api, method.output))),
      el("section", { class: "panel stack", "aria-label": "curl" }, el("h3", {}, "In a terminal"), curl, button("Copy", () => navigator.clipboard?.writeText(curl.textContent ?? ""), { class: "small" })),
    );
    refill(answer, el("p", { class: "muted" }, "Not called yet."));
  }

  /**
   * @param {import("./api/descriptors.js").Method} method
   * @param {() => any} value
   * @param {Element} wrong
   * @param {Element} answer
   */
  callButton(method, value, wrong, answer) {
    const press = button(
      method.serverStreaming ? "Open the stream" : "Call",
      async () => {
        if (this.running) return this.stop();
        if (wrong.textContent) return refill(answer, el("p", { class: "notice bad" }, "The request is not JSON. Correct it first."));
        const mine = (this.running = new AbortController());
        refill(press, "Stop");
        try {
          await this.run(method, value(), answer, mine.signal);
        } catch (error) {
          if (!mine.signal.aborted) refill(answer, refused(error), raw(error));
        }
        if (this.running === mine) this.running = undefined;
        refill(press, method.serverStreaming ? "Open the stream" : "Call");
      },
      { class: "primary", disabled: method.clientStreaming },
    );
    return press;
  }

  /**
   * @param {import("./api/descriptors.js").Method} method
   * @param {any} request
   * @param {Element} answer
   * @param {AbortSignal} signal
   */
  async run(method, request, answer, signal) {
    const began = performance.now();
    refill(answer, el("p", { class: "muted", role: "status" }, "Called \u2026"));
    if (!method.serverStreaming) {
      const got = await call(method.path, request, { signal });
      return void refill(answer, el("p", { class: "muted", role: "status" }, `${Math.round(performance.now() - began)} ms`), json(got));
    }
    let count = 0;
    const state = el("p", { class: "muted", role: "status" });
    const messages = el("div", { class: "stack" });
    refill(answer, state, messages);
    for await (const message of stream(method.path, request, { signal })) {
      count += 1;
      refill(state, `${count} message${count === 1 ? "" : "s"}, the newest first`);
      messages.prepend(json(message));
      while (messages.childElementCount > KEPT) messages.lastElementChild?.remove();
    }
    refill(state, `${count} message${count === 1 ? "" : "s"}; the stream has ended`);
  }
}

/** @param {any} value */
function json(value) {
  return el("pre", { tabindex: "0" }, JSON.stringify(value, null, 2));
}

/** @param {any} error */
function raw(error) {
  return el("details", {}, el("summary", {}, "The refusal, whole"), json({ code: error?.code, reason: error?.reason, message: error?.message, metadata: error?.metadata, violations: error?.violations, retryAfterMs: error?.retryAfterMs }));
}

/**
 * @param {Api} api
 * @param {string} name
 */
function fieldsOf(api, name) {
  const message = api.message(name);
  return el("ul", { class: "fields-list" }, ...(message?.fields ?? []).map((field) => el("li", {}, el("code", {}, field.json), `: ${field.repeated ? "list of " : ""}${field.words}`)));
}
