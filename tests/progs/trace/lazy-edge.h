/* Functions that are looked up once each. */
#define EDGE_TEN(x) EDGE(x##0) EDGE(x##1) EDGE(x##2) EDGE(x##3) EDGE(x##4) EDGE(x##5) EDGE(x##6) EDGE(x##7) EDGE(x##8) EDGE(x##9)
#define EDGE_ALL EDGE_TEN(1) EDGE_TEN(2) EDGE_TEN(3) EDGE_TEN(4) EDGE_TEN(5)
