// host.cpp compiles scalar.cu for the CPU, for tests with many arguments.
//
// host NAME COUNT reads COUNT elements of each operand of the function, one operand after another, and
// writes COUNT results.
#define HOST
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

struct Function {
  const char* name;
  int (*run)(size_t n);
  const Function* next;
  static const Function* first;
  Function(const char* name, int (*run)(size_t)) : name(name), run(run), next(first) { first = this; }
};
const Function* Function::first;

// Call reads an array per operand and calls f for each of their elements.
template <class R, class... A> struct Call {
  template <R (*f)(A...), size_t... I> static int each(size_t n, std::index_sequence<I...>) {
    std::tuple<std::vector<A>...> in{std::vector<A>(n)...};
    if (!(... && (fread(std::get<I>(in).data(), sizeof(A), n, stdin) == n))) return 1;
    std::vector<R> out(n);
    for (size_t i = 0; i < n; i++) out[i] = f(std::get<I>(in)[i]...);
    return fwrite(out.data(), sizeof(R), n, stdout) != n;
  }
};
template <auto f> struct Runner;
template <class R, class... A, R (*f)(A...)> struct Runner<f> {
  static int run(size_t n) {
    return Call<R, A...>::template each<f>(n, std::index_sequence_for<A...>());
  }
};

#define REGISTER(name) static Function register_##name(#name, Runner<name>::run);
#include "../scalar.cu"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const Function* f = Function::first; f; f = f->next)
    if (!strcmp(f->name, argv[1])) return f->run(strtoull(argv[2], nullptr, 10));
  fprintf(stderr, "no function %s\n", argv[1]);
  return 1;
}
