import hooks from "node:async_hooks";

/**
 * Node's test runner follows every promise, so as to know of what happens which test it is of; that takes a third of
 * the suite's time. It only asks for the number of what runs now: here a test's own number goes along with
 * everything that the test sets going (`AsyncLocalStorage`), which costs next to nothing. To be called
 * before the runner is loaded.
 */
export function followTests(): void {
  const { createHook, executionAsyncId } = hooks;
  const { runInAsyncScope } = hooks.AsyncResource.prototype;
  const running = new hooks.AsyncLocalStorage<number>();
  const tests = new WeakSet<object>();

  hooks.createHook = ({ init, ...callbacks }) =>
    createHook({
      ...callbacks,
      init(id, type, trigger, resource) {
        if (type === "Test") tests.add(resource);
        init?.(id, type, trigger, resource);
      },
      trackPromises: false,
    });
  hooks.executionAsyncId = () => running.getStore() ?? executionAsyncId();
  hooks.AsyncResource.prototype.runInAsyncScope = function (run, self, ...values) {
    if (!tests.has(this)) return runInAsyncScope.call(this, run as never, self, ...values) as never;
    const inTest = (...given: never[]) =>
      running.run(this.asyncId(), () => run.apply(self as never, given as never));
    return runInAsyncScope.call(this, inTest as never, self, ...values) as never;
  };
}
